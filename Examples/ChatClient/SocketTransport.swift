import Foundation
import Synchronization

/// A client and its server in processes of their own, on one machine.
public final class SocketTransport: Transport {
  private let path: String
  private let socket = Mutex<LineSocket?>(nil)
  /// Sockets block; the threads that tasks share are not for that.
  private let queue = DispatchQueue(label: "socket")
  private static let maximumAnswerSeconds = 10

  /// A link to who listens at a path, made when it is needed, and made anew when it has broken.
  public init(path: String) { self.path = path }

  /// Sends a line and waits for one; see `Transport`.
  public func ask(_ request: Request) async throws(LinkError) -> Answer {
    let result = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.exchange(request)) }
    }
    return try result.get()
  }

  private func exchange(_ request: Request) -> Result<Answer, LinkError> {
    socket.withLock { socket in
      do throws(LinkError) {
        if socket == nil {
          socket = LineSocket.connecting(to: path)
          socket?.setTimeOut(seconds: Self.maximumAnswerSeconds)
        }
        guard let socket else { throw .noConnection }
        try socket.send(request)
        return .success(try socket.receive(Answer.self))
      } catch {
        // An answer that comes too late must not be taken for that of the next question.
        socket = nil
        return .failure(error)
      }
    }
  }
}

/// Lets a pretend server be reached through a socket, by any number of clients at once.
public final class SocketServer: Sendable {
  private let descriptor: Int32

  /// Listens at a path, where nothing may be yet.
  ///
  /// What the server lets get lost breaks the link: to the client that looks the same, but for how
  /// long it takes.
  public init(_ server: PretendServer, path: String) throws {
    let descriptor = try LineSocket.listening(on: path)
    self.descriptor = descriptor
    Thread.detachNewThread {
      while case let accepted = accept(descriptor, nil, nil), accepted >= 0 {
        Thread.detachNewThread {
          let socket = LineSocket(accepted)
          while let request = try? socket.receive(Request.self),
            let answer = try? server.answer(request), (try? socket.send(answer)) != nil
          {}
        }
      }
    }
  }

  deinit {
    // Wakes who waits in `accept`, on Linux; then the descriptor may go.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }
}
