import ChatClient
import Foundation
import MsgStore

/// Two people who chat, each with a client in a process of its own, and a server in a third.
///
///     chat-example                                     all of it, and a comparison at the end
///     chat-example server SOCKET                       the pretend server, until it is killed
///     chat-example ann STORE SOCKET                    one side of the chat
///     chat-example bob STORE SOCKET                    the other
///     chat-example sync STORE MEMBER SOCKET            a client without a user, until it is killed
@main
struct ChatExample {
  static func main() async throws {
    let arguments = CommandLine.arguments
    // Whoever waits for somebody who is gone ends by this.
    if arguments.count == 4 { alarm(120) }
    switch arguments.dropFirst().first {
    case nil: exit(try Demonstration().run() ? 0 : 1)
    case "server" where arguments.count == 3:
      let world = PretendServer()
      // Who has missed more is told the newest one, and asks for the others.
      world.setToldCount(1)
      let server = try SocketServer(world, path: arguments[2])
      try await Task.sleep(for: .seconds(3600))
      withExtendedLifetime(server) {}
    case "ann" where arguments.count == 4:
      try await Ann(store: arguments[2], socket: arguments[3]).run()
    case "bob" where arguments.count == 4:
      try await Bob(store: arguments[2], socket: arguments[3]).run()
    case "sync" where arguments.count == 5:
      let client = try ChatClient(
        path: arguments[2], member: MemberID(arguments[3]),
        transport: SocketTransport(path: arguments[4]))
      try await client.run()
    default:
      print("usage: chat-example [server SOCKET | ann STORE SOCKET | bob STORE SOCKET |")
      print("                     sync STORE MEMBER SOCKET]")
      exit(2)
    }
  }
}
