/// The version of the program, by Semantic Versioning.
package enum ProgramVersion {
    package static let text = "0.2.0"
}
