/// An error that ends the process, as a line for the operator and an exit status for scripts.
struct RelayError: Error, Equatable {
    let exit: ExitStatus
    /// The problem and its place, on one line, even if it quotes an answer of several lines.
    let message: String
    /// The operator's remedy.
    let advice: String

    init(_ exit: ExitStatus, _ message: String, advice: String) {
        self.exit = exit
        self.message = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.advice = advice
    }

    var line: String { "\(message). \(advice)." }
}
