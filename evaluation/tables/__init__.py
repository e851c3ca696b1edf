"""The tables of the three papers, each measured with what is printed beside ours."""
