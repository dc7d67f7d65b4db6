extension MessageStore {
  /// The version of the library, by Semantic Versioning 2.0.0.
  ///
  /// A version that ends in `-dev` comes before the release of that number; its format may still
  /// change.
  public static let version = "0.1.0-dev"
}
