"""Model families: how each is asked, how it answers, and in which coordinate frame. One file a family."""
