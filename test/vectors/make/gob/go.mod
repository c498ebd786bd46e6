module cattail.example/vectors/gob

go 1.22
