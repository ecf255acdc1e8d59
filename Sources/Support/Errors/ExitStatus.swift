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
    /// The input of `liverelay check` cannot be read, or is no transport stream but a playlist.
    case unreadableInput = 31
    /// A defect of liverelay.
    case internalError = 70

    /// The description in docs/cli.md.
    var meaning: String {
        switch self {
        case .success: "ended as asked"
        case .upstreamUnavailable: "the upstream cannot be reached, or refuses"
        case .notAPlaylist: "what the upstream answers is no HLS playlist, DASH manifest or transport stream"
        case .noSegments: "the upstream's playlist lists no segments"
        case .unsupportedProtection: "the upstream is protected by SAMPLE-AES or another DRM"
        case .wrongKey: "the AES-128 key has the wrong size or does not decrypt"
        case .noUsableMedia:
            "the segments hold no video or audio that can be republished, or no video where `--require video` asks for it"
        case .gaveUp: "nothing of the upstream could be published for longer than --give-up"
        case .cannotListen: "the address to serve at is taken or not ours"
        case .cannotSpool: "the spool directory cannot be used"
        case .badCapture: "the capture cannot be read or written"
        case .badSlate: "the file to show during outages cannot be used"
        case .cannotWrite: "what --output or --recordings names cannot be written"
        case .badConfiguration: "the configuration of `serve` has mistakes"
        case .badCredentials: "a token file, a certificate or its key cannot be used"
        case .faultsFound: "`check` found faults"
        case .unreadableInput: "the input of `check` cannot be read, or is a playlist"
        case .internalError: "a defect of liverelay; please report it"
        }
    }
}
