import MsgStore
import Testing

/// One way, or more, to be refused by each operation.
extension RefusalTests {
  static let composing: [Refusal] = [
    Refusal("send a text that is empty") { _ = try $0.send(own("new", in: "g", " ")) },
    Refusal("send somebody else's") {
      _ = try $0.send(chatMessage("new", in: "g", at: nil, from: "ann"))
    },
    Refusal("send under a name that is used") { _ = try $0.send(own("mine", in: "g")) },
    Refusal("send under the name of a deleted one") { _ = try $0.send(own("erased", in: "g")) },
    Refusal("send where one has left") { _ = try $0.send(own("new", in: "left")) },
    Refusal("send without a name") { _ = try $0.send(own("", in: "g")) },
    Refusal("send to no name") { _ = try $0.send(own("new", in: "")) },
    Refusal("send with a type that is not allowed") {
      _ = try $0.send(
        attached(MessageAttachment(id: "a", kind: .video, mimeType: "video/odd", byteCount: 1)))
    },
    Refusal("send with an attachment without a name") {
      _ = try $0.send(attached(MessageAttachment(id: "", kind: .image)))
    },
    Refusal("send with too many mentions") {
      var message = own("new", in: "g")
      message.mentions = mentioning(20_000)
      _ = try $0.send(message)
    },
    Refusal("edit to nothing") {
      _ = try $0.edit("mine", in: "g", text: "", mentions: ["new-one"])
    },
    Refusal("edit somebody else's") { _ = try $0.edit("theirs", in: "g", text: "x") },
    Refusal("edit what is not there") { _ = try $0.edit("none", in: "g", text: "x") },
    Refusal("edit what is taken back") { _ = try $0.edit("erased", in: "g", text: "x") },
    Refusal("edit where one has left") { _ = try $0.edit("mine", in: "left", text: "x") },
    Refusal("retract somebody else's") { _ = try $0.retract("theirs", in: "g") },
    Refusal("retract what is not there") { _ = try $0.retract("none", in: "g") },
    Refusal("retract twice") { _ = try $0.retract("erased", in: "g") },
    Refusal("retract too late") { _ = try $0.retract("old", in: "g") },
    Refusal("react with nothing") { _ = try $0.react("", to: "theirs", in: "g") },
    Refusal("react with too much") { _ = try $0.react(long, to: "theirs", in: "g") },
    Refusal("react to nothing") { _ = try $0.react("👍", to: "none", in: "g") },
    Refusal("react to what is taken back") { _ = try $0.react("👍", to: "erased", in: "g") },
    Refusal("take a reaction from nothing") {
      _ = try $0.removeReaction("👍", from: "none", in: "g")
    },
    Refusal("prepare beyond a limit") {
      let file = MessageAttachment(id: "f", kind: .image, byteCount: 3_000_000)
      _ = try $0.prepareUpload(file, of: "files", in: "g")
    },
    Refusal("prepare somebody else's") {
      _ = try $0.prepareUpload(MessageAttachment(id: "f", kind: .image), of: "theirs", in: "g")
    },
    Refusal("prepare nothing") {
      _ = try $0.prepareUpload(MessageAttachment(id: "f", kind: .image), of: "none", in: "g")
    },
    Refusal("upload beyond a limit") {
      _ = try $0.setTransfer(
        .upload, to: .running(doneByteCount: 0), of: "big", message: "files", in: "g")
    },
    Refusal("keep too long a path") {
      _ = try $0.setLocalPath(huge, of: "f", message: "files", in: "g")
    },
  ]

  static let conversations: [Refusal] = [
    Refusal("entitle what is not there") { _ = try $0.setTitle("x", of: "none") },
    Refusal("entitle at too great length") { _ = try $0.setTitle(huge, of: "g") },
    Refusal("entitle what one has left") { _ = try $0.setTitle("x", of: "left") },
    Refusal("picture at too great length") { _ = try $0.setAvatar(huge, of: "g") },
    Refusal("add to what is not there") { _ = try $0.addParticipants(["new-one"], to: "none") },
    Refusal("add to what one has left") { _ = try $0.addParticipants(["new-one"], to: "left") },
    Refusal("add to a direct one") { _ = try $0.addParticipants(["new-one"], to: "direct") },
    Refusal("add too many") { _ = try $0.addParticipants(Array(crowd.dropLast()), to: "g") },
    Refusal("add far too many") { _ = try $0.addParticipants(crowd, to: "g") },
    Refusal("add nobody's name") { _ = try $0.addParticipants(["new-one", ""], to: "g") },
    Refusal("remove from a direct one") { _ = try $0.removeParticipants(["ann"], from: "direct") },
    Refusal("remove nobody's name") { _ = try $0.removeParticipants([""], from: "g") },
    Refusal("leave what is not there") { _ = try $0.leave("none") },
    Refusal("leave a direct one") { _ = try $0.leave("direct") },
    Refusal("pin what is not there") { _ = try $0.setPinned(true, of: "none") },
    Refusal("mute what is not there") { _ = try $0.setMuted(true, of: "none") },
    Refusal("archive what is not there") { _ = try $0.setArchived(true, of: "none") },
    Refusal("mark what is not there") { _ = try $0.setMarkedUnread(true, of: "none") },
    Refusal("draft what is too long") { _ = try $0.setDraft(huge, in: "g") },
    Refusal("draft where nothing is") { _ = try $0.setDraft("x", in: "none") },
    Refusal("draft an answer to no name") { _ = try $0.setDraft("x", replyTo: "", in: "g") },
    Refusal("rename what is not there") { _ = try $0.renameConversation("none", to: "new") },
    Refusal("rename to nothing") { _ = try $0.renameConversation("g", to: "") },
    Refusal("make what is there") { _ = try $0.createGroup("g", participants: ["new-one"]) },
    Refusal("make with too long a title") {
      _ = try $0.createGroup("new", participants: ["new-one"], title: huge)
    },
    Refusal("make with nobody's name") { _ = try $0.createGroup("new", participants: [""]) },
    Refusal("make of too many") { _ = try $0.createGroup("new", participants: crowd) },
    Refusal("talk to nobody") { _ = try $0.findOrCreateConversation(with: []) },
    Refusal("talk to oneself") { _ = try $0.findOrCreateConversation(with: ["me"]) },
    Refusal("talk to too many") { _ = try $0.findOrCreateConversation(with: crowd) },
    Refusal("put too long a title") {
      _ = try $0.putConversation("new", participants: ["new-one"], title: huge)
    },
    Refusal("put nobody's name") { _ = try $0.putConversation("new", participants: ["x", ""]) },
    Refusal("keep too long a sync position") {
      _ = try $0.setSyncPosition([UInt8](repeating: 0, count: 1 << 21), for: "k", in: "new")
    },
    Refusal("keep a sync position under no key") { _ = try $0.setSyncPosition([1], for: "") },
  ]

  static let outbox: [Refusal] = [
    Refusal("hand out to nobody") { _ = try $0.outbox.next(for: "") },
    Refusal("hand out to too long a name") { _ = try $0.outbox.next(for: long) },
    Refusal("enter without a name") { _ = try $0.outbox.enter("") },
    Refusal("enter for what is not there") { _ = try $0.outbox.enter("x", in: "none") },
    Refusal("enter too much") {
      _ = try $0.outbox.enter("x", payload: [UInt8](repeating: 0, count: (1 << 20) + 1))
    },
    Refusal("hold nothing") { _ = try $0.outbox.hold(.init(rawValue: 9999)) },
    Refusal("hold what runs") { _ = try $0.outbox.hold(running($0)) },
    Refusal("release nothing") { _ = try $0.outbox.release(.init(rawValue: 9999)) },
    Refusal("retry nothing") { _ = try $0.outbox.retry(.init(rawValue: 9999)) },
    Refusal("remove nothing") { try $0.outbox.remove(.init(rawValue: 9999)) },
    Refusal("remove what runs") { try $0.outbox.remove(running($0)) },
    Refusal("remove what is needed") { try $0.outbox.remove(entry(.upload, $0)) },
    Refusal("change the text of nothing") {
      _ = try $0.outbox.setText("x", of: .init(rawValue: 9999))
    },
    Refusal("change the text of what runs") { _ = try $0.outbox.setText("x", of: running($0)) },
    Refusal("change the text of what has none") {
      _ = try $0.outbox.setText("x", of: entry(.upload, $0))
    },
    Refusal("change a text to nothing") {
      _ = try $0.outbox.setText(" ", mentions: ["new-one"], of: entry(.send, $0))
    },
    Refusal("change a text with too many mentions") {
      _ = try $0.outbox.setText("x", mentions: mentioning(20_000), of: entry(.send, $0))
    },
    Refusal("look at less than one") { _ = try $0.outbox.entries(count: 0) },
  ]

  static let received: [Refusal] = [
    Refusal("insert without a name") { _ = try $0.insert(chatMessage("", in: "g", at: 1)) },
    Refusal("receive an own field without a name") {
      _ = try $0.receive([OwnField("", [1])], of: .message("new", in: "g"))
    },
    Refusal("receive too many own fields") {
      let fields = (0...OwnField.maximumCount).map { OwnField("f\($0)", [1]) }
      _ = try $0.receive(fields, of: .message("theirs", in: "g"))
    },
    Refusal("set an own field without a name") {
      _ = try $0.setOwnField("", [1], of: .member("new one"))
    },
    Refusal("set an own field of a message that is not here") {
      _ = try $0.setOwnField("a", [1], of: .message("none", in: "g"))
    },
    Refusal("set too long a kind of a conversation") {
      _ = try $0.setOwnKind(long, of: .conversation("g"))
    },
    Refusal("set an own field of nobody") { _ = try $0.setOwnField("a", [1], of: .member("")) },
    Refusal("insert with too long an own kind") {
      var message = chatMessage("new", in: "g", at: 1)
      message.ownKind = long
      _ = try $0.insert(message)
    },
    Refusal("insert into no name") { _ = try $0.insert(chatMessage("new", in: "", at: 1)) },
    Refusal("insert from nobody") {
      _ = try $0.insert(chatMessage("new", in: "g", at: 1, from: ""))
    },
    Refusal("insert too long a text") {
      _ = try $0.insert(chatMessage("new", in: "g", at: 1, text: huge))
    },
    Refusal("insert some, one of them without a name") {
      _ = try $0.insert(
        contentsOf: ["new", ""].map {
          chatMessage(MessageID($0), in: "new", at: 1, from: "new-one")
        })
    },
    Refusal("acknowledge no name") {
      _ = try $0.acknowledge("", in: "g", serverTimestamp: time(1))
    },
    Refusal("acknowledge as no name") {
      _ = try $0.acknowledge("mine", in: "g", serverTimestamp: time(1), as: "")
    },
    Refusal("acknowledge in no name") {
      _ = try $0.acknowledge("mine", in: "", serverTimestamp: time(1))
    },
    Refusal("hear of an edit of no name") {
      _ = try $0.receiveEdit(of: "", in: "new", text: "x", at: time(1))
    },
    Refusal("hear of too long an edit") {
      _ = try $0.receiveEdit(of: "mine", in: "g", text: huge, mentions: ["new-one"], at: time(1))
    },
    Refusal("hear of a retraction of no name") { _ = try $0.receiveRetraction(of: "", in: "new") },
    Refusal("hear of a reaction of nobody") {
      _ = try $0.receive(Reaction("👍", from: "", at: time(1)), to: "mine", in: "new")
    },
    Refusal("hear of an empty reaction") {
      _ = try $0.receive(Reaction("", from: "new-one", at: time(1)), to: "mine", in: "new")
    },
    Refusal("hear of an attachment without a name") {
      _ = try $0.receive(MessageAttachment(id: "", kind: .image), of: "mine", in: "new")
    },
    Refusal("hear of a receipt of nobody") {
      _ = try $0.receive(ReceivedReceipt(in: "new", of: "", .read, .upTo("mine")))
    },
    Refusal("hear of a receipt of no name") {
      _ = try $0.receive(ReceivedReceipt(in: "new", of: "new-one", .read, .messages(["x", ""])))
    },
    Refusal("hear of a member without a name") {
      _ = try $0.receive(
        ReceivedConversation("new", at: time(1)) { $0.members = [.init("new-one"), .init("")] })
    },
    Refusal("hear of a conversation without a name") {
      _ = try $0.receive(ReceivedConversation("", at: time(1)))
    },
    Refusal("hear of too long a title") {
      _ = try $0.receive(
        ReceivedConversation("new", at: time(1)) {
          $0.members = [.init("new-one")]
          $0.title = .text(huge)
        })
    },
    Refusal("hear of a profile without a name") {
      _ = try $0.receive(MemberProfile(of: "", name: "x"))
    },
    Refusal("hear of a profile with too long a name") {
      _ = try $0.receive(MemberProfile(of: "new-one", name: huge))
    },
    Refusal("hear of a profile with too long a picture") {
      _ = try $0.receive(MemberProfile(of: "new-one", picture: huge))
    },
    Refusal("hear that no name is deleted") {
      _ = try $0.receiveConversationDeletion("", at: time(1))
    },
    Refusal("have a list with a message without a name") {
      _ = try $0.reconcile([chatMessage("new", in: "g", at: 1)], in: "", within: .all)
    },
    Refusal("have a list of conversations with one without a name") {
      _ = try $0.reconcile([
        ReceivedConversation("new", at: time(1)), ReceivedConversation("", at: time(1)),
      ])
    },
    Refusal("read no name") { _ = try $0.markRead(["theirs", ""], in: "g") },
    Refusal("be given no name") { _ = try $0.markDelivered(["theirs", ""], in: "g") },
    Refusal("read around nothing") { _ = try $0.thread("g").around("none", count: 5) },
    Refusal("read less than one") { _ = try $0.thread("g").tail(0) },
  ]
}
