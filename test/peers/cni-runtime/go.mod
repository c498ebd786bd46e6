module cattail/test/peers/cni-runtime

go 1.24
