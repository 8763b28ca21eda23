"""Never end, working."""

print("begun", flush=True)
while True:
    pass
