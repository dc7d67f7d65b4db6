#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The cost of the machine itself, which no store can beat.
///
/// Measures copying messages' bytes out of memory, and a bare `pwrite` with a sync, of as many
/// bytes as our median commit writes, on blocks already written.
@safe
final class LimitEngine {
  private static let fileByteCount = 4 << 20
  private static let sectorByteCount = 512

  private let file: Int32
  private var offset = 0
  /// The number of bytes in one write; `Commit` sets it to what our own commits write.
  private(set) var writeByteCount = 1_024

  init(directory: String) throws {
    let path = "\(directory)/limit"
    file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw Files.failure("open", path) }
    let zeroes = [UInt8](repeating: 0xA5, count: Self.fileByteCount)
    guard unsafe pwrite(file, zeroes, zeroes.count, 0) == zeroes.count, Self.sync(file) else {
      throw Files.failure("pwrite", path)
    }
  }

  deinit { close(file) }

  /// Sets the length of every write to `byteCount`, rounded up to whole sectors.
  func use(writeByteCount byteCount: Int) {
    let sectors = (byteCount + Self.sectorByteCount - 1) / Self.sectorByteCount
    writeByteCount = min(max(1, sectors) * Self.sectorByteCount, Self.fileByteCount)
  }

  /// Writes the next bytes of the file, wrapping around at its end, and syncs.
  func writeAndSync(_ bytes: [UInt8]) throws -> UInt64 {
    if offset + bytes.count > Self.fileByteCount { offset = 0 }
    var isDone = false
    let elapsed = timed {
      isDone = unsafe pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count
      isDone = isDone && Self.sync(file)
    }
    offset += bytes.count
    guard isDone else { throw BenchError("limit: pwrite or its sync failed") }
    return elapsed
  }

  private static func sync(_ file: Int32) -> Bool {
    #if canImport(Darwin)
      fcntl(file, F_FULLFSYNC) == 0
    #else
      fdatasync(file) == 0
    #endif
  }

  /// Copies each message's bytes into freshly allocated memory.
  static func copy(_ messages: [[UInt8]], byteCount: Int) -> UInt64 {
    timed {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
      var offset = 0
      for message in messages {
        unsafe message.withUnsafeBytes { bytes in
          unsafe UnsafeMutableRawBufferPointer(rebasing: copy[offset..<offset + bytes.count])
            .copyMemory(from: bytes)
        }
        offset += message.count
      }
      unsafe escape(copy)
      unsafe copy.deallocate()
    }
  }

  /// Keeps the optimiser from seeing that the copy is unused.
  @inline(never) @_optimize(none)
  private static func escape(_ bytes: UnsafeMutableRawBufferPointer) {}
}
