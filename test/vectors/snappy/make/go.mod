module cattail/vectors/snappy

go 1.24

require github.com/golang/snappy v1.0.0
