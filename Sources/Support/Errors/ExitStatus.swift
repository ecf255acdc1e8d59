/// The exit statuses of the process by kind of error; docs/cli.md lists them for scripts and supervisors.
package enum ExitStatus: Int32, CaseIterable {
    case success = 0
    /// The upstream's URL does not answer, or answers with an error.
    case upstreamUnavailable = 10
    /// The answer is no HLS playlist, DASH manifest or transport stream, or malformed.
    case notAPlaylist = 11
    /// The playlist is valid but lists no segment.
    case noSegments = 12
    /// SAMPLE-AES or another DRM.
    case unsupportedProtection = 13
    /// The AES-128 key has the wrong size or does not decrypt.
    case wrongKey = 14
    /// The segments contain no media that can be republished.
    case noUsableMedia = 15
    /// The upstream was stalled for longer than --give-up.
    case gaveUp = 16
    /// The server cannot listen on its address.
    case cannotListen = 20
    /// The spool directory cannot be written, or another process uses it.
    case cannotSpool = 21
    /// A capture cannot be read or written.
    case badCapture = 22
    /// The slate cannot be read or published.
    case badSlate = 23
    /// The path of --output or --recordings cannot be written.
    case cannotWrite = 24
    /// The configuration of `liverelay serve` has mistakes.
    case badConfiguration = 25
    /// A token file, a certificate or a key cannot be used.
    case badCredentials = 26
    /// `liverelay check` found faults.
    case faultsFound = 30
    /// The input of `liverelay check` cannot be read, or is neither a playlist nor a transport stream.
    case unreadableInput = 31
    /// A defect of liverelay.
    case internalError = 70
}

/// An error that ends the process: one line for the operator, and an exit status for scripts.
package struct RelayError: Error, Equatable {
    package let exit: ExitStatus
    /// The finding and its place, in one line even if it quotes an upstream's answer of several lines.
    package let message: String
    /// An action of the operator that helps.
    let advice: String

    package init(_ exit: ExitStatus, _ message: String, advice: String) {
        self.exit = exit
        self.message = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.advice = advice
    }

    /// The same error with an earlier finding before its message.
    package func following(_ finding: String) -> RelayError {
        RelayError(exit, "\(finding.asSentence) \(message)", advice: advice)
    }

    package var line: String { "\(message.asSentence) \(advice.asSentence)" }
}

extension String {
    /// The text with a full stop, unless the text ends as a sentence already, perhaps inside a quotation.
    package var asSentence: String {
        let last = last { !"”\"')".contains($0) }
        return last.map { ".!?…".contains($0) } == true ? self : self + "."
    }
}
