"""Write 480 MB into one's own folder, in files that are small enough each."""

got = 0
try:
    for number in range(48):
        with open(f"fill-{number}", "wb") as file:
            got += file.write(bytes(10 << 20)) >> 20
except OSError as fault:
    print(fault)
print("GOT" if got == 480 else "HELD", got)
