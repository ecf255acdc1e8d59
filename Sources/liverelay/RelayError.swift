/// Trouble that ends the process: one line for the operator, and a status for the script around it.
struct RelayError: Error, Equatable {
    let exit: ExitStatus
    /// What was found, where; one line, whatever the upstream's answer that it quotes.
    let found: String
    /// What to do about it.
    let advice: String

    init(_ exit: ExitStatus, _ found: String, advice: String) {
        self.exit = exit
        self.found = found.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.advice = advice
    }

    var line: String { "\(found). \(advice)." }
}
