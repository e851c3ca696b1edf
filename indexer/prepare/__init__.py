"""Listed papers and their files to what is indexed of them; loads no more than reading takes."""
