module cattail.test/certificates

go 1.24
