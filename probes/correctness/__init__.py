"""Does an optimisation change what the model generates?"""
