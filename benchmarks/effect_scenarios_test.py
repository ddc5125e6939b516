TEST = []
