/// Trouble that ends the process: one line for the operator, and a status for the script around it.
struct RelayError: Error, Equatable {
    let exit: ExitStatus
    /// What was found, where; one line, whatever the upstream's answer that it quotes.
    let message: String
    /// What to do about it.
    let advice: String

    init(_ exit: ExitStatus, _ found: String, advice: String) {
        self.exit = exit
        self.message = found.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.advice = advice
    }

    var line: String { "\(message). \(advice)." }
}
