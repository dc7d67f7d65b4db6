#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// The answers of a store to random acts, for `Scripts/oracle`, which compares those of two commits.
//
//   oracle SEED COUNT         a line for each of so many seeds, with the digest of its transcript
//   oracle SEED print [ACTS]  the transcript of a seed; of the acts with these numbers alone

/// The lines of a seed's transcript; a store that throws ends it with the error.
func lines(_ seed: UInt64, _ kept: Set<Int>? = nil) -> [String] {
  var transcript = Transcript(seed: seed, kept: kept)
  do {
    try transcript.play()
    return transcript.lines
  } catch {
    return transcript.lines + ["thrown: \(error)"]
  }
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
func digest(_ lines: [String]) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for line in lines {
    for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = (hash ^ 0x0A) &* 0x100_0000_01B3
  }
  return hash
}

let arguments = CommandLine.arguments
guard arguments.count > 2, let first = UInt64(arguments[1]) else {
  print("usage: oracle SEED COUNT, or oracle SEED print [ACT,ACT...]")
  exit(2)
}
if arguments[2] == "print" {
  let kept =
    arguments.count > 3 ? Set(arguments[3].split(separator: ",").compactMap { Int($0) }) : nil
  for line in lines(first, kept) { print(line) }
} else if let count = UInt64(arguments[2]) {
  for seed in first..<first + count { print(seed, String(digest(lines(seed)), radix: 16)) }
}
