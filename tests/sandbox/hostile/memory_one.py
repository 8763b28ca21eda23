"""Take 400 MB in one process."""

held = []
for _ in range(25):
    held.append(bytearray(16 << 20))
print("GOT", sum(map(len, held)) >> 20)
