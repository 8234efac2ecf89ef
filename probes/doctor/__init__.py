"""What is this machine, and can it profile?"""
