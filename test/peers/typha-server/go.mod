module cattail/peers/typha-server

go 1.25

require github.com/golang/snappy v1.0.0
