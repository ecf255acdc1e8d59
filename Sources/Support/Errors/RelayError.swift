/// An error that ends the process: one line for the operator, and an exit status for scripts.
package struct RelayError: Error, Equatable {
    package let exit: ExitStatus
    /// The finding and its place; one line, whatever upstream answer it quotes.
    package let message: String
    /// An action of the operator that helps.
    let advice: String

    package init(_ exit: ExitStatus, _ message: String, advice: String) {
        self.exit = exit
        self.message = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.advice = advice
    }

    package var line: String { "\(message). \(advice)." }
}
