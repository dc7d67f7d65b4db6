/// The client's own fields of a message.
extension Message {
  /// The kind of the message in the client's own terms, such as `call`; nil for a plain one.
  ///
  /// 1 to ``OwnField/maximumKindByteCount`` bytes of UTF-8.
  public var ownKind: String? {
    get { rare?.fields.ownFields.kind }
    set {
      var all = rare?.fields.ownFields ?? OwnFields()
      all.forget([])
      if let newValue { all.put(OwnRegister(kind: newValue, time: nil)) }
      setRare(\.ownFields, all)
    }
  }

  /// The client's own fields, in the order of the bytes of their names.
  ///
  /// Of a message read from a store, values of more than ``OwnField/maximumPackedByteCount`` bytes
  /// are left out; ``StoreReading/ownFields(of:)`` has them. Of two fields of one name that are set
  /// here, the last one stays. A message with a field without a name is refused.
  public var ownFields: [OwnField] {
    get { rare?.fields.ownFields.fields ?? [] }
    set {
      var all = OwnFields()
      if let kind = rare?.fields.ownFields[[]] { all.put(kind) }
      for field in newValue where !field.name.isEmpty { all.put(field.register) }
      setRare(\.ownFields, all)
      let hasUnnamed = newValue.contains { $0.name.isEmpty }
      if hasUnnamed != rare?.fields.hasUnnamedField { setRare(\.hasUnnamedField, hasUnnamed) }
    }
  }

  /// Returns the client's own field of a name, or nil if the message lacks it.
  public func ownField(_ name: String) -> OwnField? {
    guard let register = rare?.fields.ownFields[Array(name.utf8)], !register.name.isEmpty,
      !register.isRemoved
    else { return nil }
    return OwnField(register, isKind: false)
  }

  /// Returns the statements about the fields, for their validation.
  var ownStatements: [OwnField] {
    guard let fields = rare?.fields else { return [] }
    let known = fields.ownFields.all.map { OwnField($0, isKind: $0.name.isEmpty) }
    return fields.hasUnnamedField ? known + [OwnField("", nil)] : known
  }
}
