import MsgStore
import MsgStoreTools

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
//   oracle SEED export        the export of the store that the acts of a seed have made
//   oracle 0 restore FILE TO  the export of a store that is restored from a file

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

/// The export of a store restored from a file of lines.
func restored(from file: String, to path: String) throws -> [UInt8] {
  try MessageStore.restore(from: file, to: path)
  var options = StoreOptions()
  options.prunesByItself = false
  let store = try MessageStore(path: path, options: options)
  var bytes: [UInt8] = []
  try store.exportLines { bytes += $0 }
  try store.close()
  return bytes
}

func run(_ arguments: [String]) throws {
  guard arguments.count > 2, let first = UInt64(arguments[1]) else {
    print("usage: oracle SEED COUNT, or SEED print [ACT,ACT...], SEED export, 0 restore FILE TO")
    exit(2)
  }
  switch arguments[2] {
  case "print":
    let kept =
      arguments.count > 3 ? Set(arguments[3].split(separator: ",").compactMap { Int($0) }) : nil
    for line in lines(first, kept) { print(line) }
  case "export":
    var transcript = Transcript(seed: first)
    try transcript.play()
    print(String(decoding: transcript.export, as: UTF8.self), terminator: "")
  case "restore" where arguments.count == 5:
    let bytes = try restored(from: arguments[3], to: arguments[4])
    print(String(decoding: bytes, as: UTF8.self), terminator: "")
  default:
    let count = UInt64(arguments[2]) ?? 0
    for seed in first..<first + count { print(seed, String(digest(lines(seed)), radix: 16)) }
  }
}

try run(CommandLine.arguments)
