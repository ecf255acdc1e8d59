/// The version of the program, by Semantic Versioning.
enum ProgramVersion {
    static let text = "0.1.0"
}
