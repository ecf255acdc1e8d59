import CCurl
import Glibc
import Support

/// A transfer on the curl thread, with its handle and what was received so far.
@safe
final class CurlTransfer {
    typealias Continuation = CheckedContinuation<FetchOutcome, Never>

    /// The bytes read from a socket at a time. libcurl waits before each read.
    private static let readBytes = 256 << 10

    let id: CurlCommandQueue.TransferID
    private let job: CurlJob
    private let continuation: Continuation
    private(set) var handle: CurlHandle
    private var head = ResponseHead()
    private var body: [UInt8] = []
    private var storedBytes = 0
    /// Content-Length; nil if the answer has none, and before the body begins.
    private var contentLength: Int?
    private var isTooLarge = false
    /// Whether the transfer was ended because the body is the beginning of a media file.
    private var isFileBeginning = false
    /// The IP address tried last, if it was denied because it is private.
    private var deniedAddress: IPAddress?
    /// When the transfer times out unless a byte arrives before; nil after the first byte, or without a limit.
    private var silenceDeadline: ContinuousClock.Instant?
    /// When a transfer that may become a stream times out; libcurl's own limits are off. nil once the stream is
    /// recognized.
    private var wholeDeadline: ContinuousClock.Instant?
    private var isStream = false
    /// Whether the transfer was ended because the body is a stream of audio.
    private var isAudioStream = false
    /// The size of the body at which the next attempt to recognize a stream is made.
    private var nextLook = 1 << 10

    init(
        _ id: CurlCommandQueue.TransferID, _ job: CurlJob, _ handle: consuming CurlHandle, _ continuation: Continuation
    ) {
        self.id = id
        self.job = job
        self.handle = handle
        self.continuation = continuation
        silenceDeadline = job.request.silenceLimit.map { .now + $0 }
        wholeDeadline = job.stream == nil ? nil : .now + job.limits.total
        configureRequest()
        configureRoute()
        configureLimits()
        unsafe self.handle.setReceiver(
            Unmanaged.passUnretained(self).toOpaque(), body: receiveBody, header: receiveHeader)
    }

    /// When the transfer times out, other than by libcurl's own limits.
    var deadline: ContinuousClock.Instant? { [silenceDeadline, wholeDeadline].compactMap(\.self).min() }

    /// Returns the transfer that a handle was configured for.
    static func of(easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        var context: UnsafeMutableRawPointer?
        guard unsafe liverelay_curl_get_private(easy, &context) == CURLE_OK else { return nil }
        return unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether a large part of the body is still to be received.
    var expectsMuch: Bool {
        !body.isEmpty && (contentLength.map { $0 - body.count } ?? body.count) >= Self.muchBytes
    }

    /// A smaller rest arrives within a few packets.
    private static let muchBytes = 64 << 10

    /// Resumes the caller with the result. Either this or `fail` is called, once, after the removal from the multi
    /// handle.
    func finish(_ code: CURLcode) {
        guard code == CURLE_OK || isFileBeginning else { return fail(reason(of: code), code) }
        succeed(body)
    }

    func fail(_ reason: FetchError.Reason, _ code: CURLcode) {
        let message: String =
            switch reason {
            case .canceled: ""
            case .privateAddress: deniedAddress?.text ?? ""
            default: handle.message(for: code)
            }
        continuation.resume(
            returning: .failure(
                FetchError(reason, url: job.request.url, code: Int32(bitPattern: code.rawValue), message: message)))
    }

    private func succeed(_ body: [UInt8]) {
        let isChunked = head.headers.contains { $0.name.lowercased() == "transfer-encoding" }
        continuation.resume(
            returning: .success(
                FetchAnswer(
                    status: handle.status, finalURL: job.finalURL(handle.effectiveURL), headers: head.headers,
                    body: body, endsAtClose: handle.isHTTP1 && !isChunked && handle.contentLength == nil)))
    }

    private func reason(of code: CURLcode) -> FetchError.Reason {
        if isTooLarge { return .tooLarge }
        if isAudioStream { return .audioStream }
        if code == CURLE_COULDNT_CONNECT, deniedAddress != nil { return .privateAddress }
        // libcurl connects only to the proxy, and has no code for a refused tunnel.
        let usesProxy = job.configuration.proxy != nil && job.configuration.noProxy == nil
        if usesProxy && code == CURLE_COULDNT_CONNECT || handle.refusedTunnel { return .proxyRefused }
        return certificateFault(code) ?? FetchError.Reason(code, answered: handle.status != 0)
    }

    /// The fault of the server's certificate; nil for any other fault.
    private func certificateFault(_ code: CURLcode) -> FetchError.Reason? {
        let message = handle.message(for: code)
        switch code {
        case CURLE_SSL_CONNECT_ERROR where Self.plainAnswers.contains(where: message.contains): return .notTLS
        case CURLE_PEER_FAILED_VERIFICATION: break
        default: return nil
        }
        // libcurl itself compares the name, after OpenSSL accepted the chain.
        if message.contains("subject name") { return .certificateOfAnotherHost }
        return switch handle.verificationResult {
        // X509_V_ERR_… of OpenSSL's x509_vfy.h.
        case 9, 10: .expiredCertificate
        case 18, 19: .selfSignedCertificate
        case 62, 64: .certificateOfAnotherHost
        default: .untrustedCertificate
        }
    }

    /// The certificate authorities file named by the environment, as OpenSSL and curl read it.
    private static let environmentAuthorities: String? = {
        let path = unsafe getenv("SSL_CERT_FILE").map { unsafe String(cString: $0) }
        return path?.isEmpty == false ? path : nil
    }()

    /// Messages of OpenSSL about an answer in plain HTTP.
    private static let plainAnswers = ["wrong version number", "packet length too long", "http request"]

    private func configureRequest() {
        handle.set(CURLOPT_URL, job.url.text)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_FOLLOWLOCATION, job.followsRedirects ? 1 : 0)
        handle.set(CURLOPT_MAXREDIRS, CurlJob.maxRedirects)
        // Signed URLs are compared byte for byte. Dot segments were removed when the reference was resolved.
        handle.set(CURLOPT_PATH_AS_IS, 1)
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.set(CURLOPT_BUFFERSIZE, Self.readBytes)
        // Without this, canceling during name resolution would block this thread, and so every channel, until the
        // resolution ends.
        handle.set(CURLOPT_QUICK_EXIT, 1)
        handle.set(CURLOPT_COOKIEFILE, "")  // enables the cookie jar
        handle.set(CURLOPT_USERAGENT, job.configuration.userAgent)
        handle.acceptShoutcastStatus()
        handle.setHeaders(job.headerLines)
        if let content = job.content { handle.setContent(content.bytes, method: content.method.rawValue) }
        if let userInfo = job.headers.userInfo(for: job.url) {
            // libcurl sends them only while redirects stay with the first host, port and scheme.
            handle.set(CURLOPT_USERNAME, userInfo.user)
            handle.set(CURLOPT_PASSWORD, userInfo.password.value)
            // Basic is libcurl's own choice. With both, libcurl would ask first which of them is right.
            if job.usesDigest { handle.set(CURLOPT_HTTPAUTH, Int(liverelay_curl_digest)) }
        }
        if job.request.needsNewConnection { handle.set(CURLOPT_FRESH_CONNECT, 1) }
        if let range = job.range { handle.set(CURLOPT_RANGE, range) }  // of the resource itself, so without encoding
        if !job.usesIdentityEncoding { handle.set(CURLOPT_ACCEPT_ENCODING, "") }  // all encodings that libcurl knows
    }

    private func configureRoute() {
        let configuration = job.configuration
        if let proxy = configuration.proxy { handle.set(CURLOPT_PROXY, proxy.value) }
        if let noProxy = configuration.noProxy { handle.set(CURLOPT_NOPROXY, noProxy) }
        if let path = configuration.certificateAuthorities ?? Self.environmentAuthorities {
            handle.set(CURLOPT_CAINFO, path)
        }
        if !configuration.verifiesCertificates {
            handle.set(CURLOPT_SSL_VERIFYPEER, 0)
            handle.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        guard configuration.deniesPrivate else { return }
        handle.set(CURLOPT_PROXY, "")  // also none from the environment
        unsafe handle.setSocketOpener(Unmanaged.passUnretained(self).toOpaque(), openSocket)
    }

    private func configureLimits() {
        let limits = job.limits
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, job.configuration.connectLimit.wholeMilliseconds)
        handle.set(CURLOPT_LOW_SPEED_LIMIT, limits.minBytesPerSecond)
        handle.set(CURLOPT_LOW_SPEED_TIME, (limits.idle.wholeMilliseconds + 999) / 1000)
        // A stream has no end and no size, but some streams announce a size.
        guard job.stream == nil else { return }
        handle.set(CURLOPT_TIMEOUT_MS, limits.total.wholeMilliseconds)
        handle.set(CURLOPT_MAXFILESIZE_LARGE, bytes: limits.bodyBytes)
    }

    /// The destination of bytes that have arrived.
    fileprivate enum Reception { case accepted, paused, aborted }

    /// Appends decompressed bytes, at most 16 KiB per call. Paused bytes come again after `resume`.
    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Reception {
        if isStream, let stream = job.stream { return unsafe stream.append(bytes) ? .accepted : .paused }
        guard unsafe append(bytes) else { return .aborted }
        recognizeStream()
        return isFileBeginning || isAudioStream ? .aborted : .accepted
    }

    func resume() { handle.resume() }

    /// Passes the body on as a stream if its first bytes are a stream, or ends the transfer if they begin a file.
    private func recognizeStream() {
        guard let stream = job.stream, body.count >= nextLook, (200..<300).contains(handle.status) else { return }
        nextLook = body.count * 2
        let readsForward = job.request.readsForward
        isFileBeginning = job.request.acceptsFile && FetchAnswer.isMediaFile(body, headers: head.headers)
        guard !isFileBeginning, readsForward || StreamPart.isStream(body) else {
            isAudioStream = !isFileBeginning && contentLength == nil && head.isOfAudioStream(body)
            return
        }
        (isStream, wholeDeadline) = (true, nil)
        // The session watches for silence of a stream; only libcurl does so for a file.
        if !readsForward { handle.set(CURLOPT_LOW_SPEED_TIME, 0) }
        stream.begin(body, from: job.finalURL(handle.effectiveURL))
        body = []
    }

    private func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= job.limits.bodyBytes - body.count - storedBytes else {
            isTooLarge = true
            return false
        }
        if let file = job.download?.file {
            storedBytes += bytes.count
            return unsafe file.append(bytes)
        }
        if body.isEmpty {
            contentLength = handle.contentLength
            body.reserveCapacity(min(contentLength ?? 0, job.limits.bodyBytes))
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// Whether a connection may be made. Called after name resolution, for each IP address and each redirect.
    fileprivate func mayConnect(to address: IPAddress?) -> Bool {
        let isPermitted = address.map { $0.isPublic || job.configuration.permittedIPAddresses.contains($0) } ?? false
        deniedAddress = isPermitted ? nil : address
        return isPermitted
    }

    fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Bool {
        silenceDeadline = nil
        let isBounded = unsafe head.receive(String(decoding: bytes, as: UTF8.self))
        isTooLarge = isTooLarge || !isBounded
        return isBounded
    }
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return switch unsafe transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .accepted: size * count
    case .paused: Int(CURL_WRITEFUNC_PAUSE)
    case .aborted: 0
    }
}

private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return unsafe transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe liverelay_curl_copy_address(address, &bytes)
    guard transfer.mayConnect(to: IPAddress(Array(bytes.prefix(count)))) else { return CURL_SOCKET_BAD }
    let (family, kind) = unsafe (address.pointee.family, address.pointee.socktype)
    return unsafe socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
}

extension Duration {
    /// Rounded up, because libcurl interprets 0 as "no limit".
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let perMillisecond: Int64 = 1_000_000_000_000_000
        return Int(seconds * 1000 + (attoseconds + perMillisecond - 1) / perMillisecond)
    }
}

/// The header fields of the last answer in a chain of redirects, read line by line.
struct ResponseHead: Equatable, Sendable {
    /// The limit for the header fields of all answers of one transfer.
    static let limitBytes = 256 << 10

    private(set) var headers: [FetchAnswer.Header] = []
    private(set) var receivedBytes = 0

    /// Reads one line. A status line starts a new answer and removes the previous one (a redirect, 103 Early Hints).
    ///
    /// - Parameter line: one line as received, with its line end.
    /// - Returns: false if the limit is exceeded.
    mutating func receive(_ line: String) -> Bool {
        receivedBytes += line.utf8.count
        if line.hasPrefix("HTTP/") {
            headers.removeAll(keepingCapacity: true)
            headers.reserveCapacity(16)
        } else if let first = line.utf8.first, first == 0x20 || first == 0x09 {
            fold(line)
        } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.utf8.index(after: colon)...]
            append(line[..<colon], value.trimmingWhitespace)
        }
        return receivedBytes <= Self.limitBytes
    }

    /// Whether the answer, whose body has no announced end, is audio without a container. Its text would be a playlist or a
    /// page under a wrong type.
    func isOfAudioStream(_ body: [UInt8]) -> Bool {
        guard body.prefix(256).contains(where: { $0 >= 0x80 || $0 == 0 }) else { return false }
        return headers.contains { header in
            let name = header.name.lowercased()
            if name.hasPrefix("icy-") { return true }
            let type = header.value.lowercased().prefix { $0 != ";" }
            return name == "content-type" && Self.audioTypes.contains(String(type)) && Self.beginsWithAudio(body)
        }
    }

    private static let audioTypes: Set = [
        "audio/mpeg", "audio/mp3", "audio/aac", "audio/aacp", "audio/x-aac", "audio/ogg", "application/ogg",
        "audio/flac",
    ]

    /// An MPEG or ADTS frame, ID3 tags, or a page of Ogg.
    private static func beginsWithAudio(_ body: [UInt8]) -> Bool {
        body.count > 4 && body[0] == 0xFF && body[1] >= 0xE0
            || ["ID3", "OggS", "fLaC"].contains { body.starts(with: $0.utf8) }
    }

    /// Appends a line that starts with a space or tab to the field before it (RFC 9112 §5.2).
    private mutating func fold(_ line: String) {
        guard let last = headers.popLast() else { return }
        append(last.name[...], last.value + " " + line[...].trimmingWhitespace)
    }

    private mutating func append(_ name: Substring, _ value: some StringProtocol) {
        headers.append(FetchAnswer.Header(name: String(name), value: String(value)))
    }
}

extension Substring {
    /// The text without white space at both ends. The line break that ends a header line is white space too.
    fileprivate var trimmingWhitespace: Substring {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        let start = utf8.drop(while: isSpace)
        return start.lastIndex { !isSpace($0) }.map { Substring(start[...$0]) } ?? ""
    }
}

extension FetchError.Reason {
    /// The reason for a libcurl result code.
    ///
    /// - Parameter answered: whether a status line arrived. libcurl has one code for redirects to an unsupported scheme
    ///   and for answers that are not HTTP.
    fileprivate init(_ code: CURLcode, answered: Bool) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: self = .unresolvedHost
        case CURLE_COULDNT_RESOLVE_PROXY: self = .unresolvedProxy
        case CURLE_PROXY: self = .proxyRefused
        case CURLE_COULDNT_CONNECT: self = .refused
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_PARTIAL_FILE: self = .shortBody
        case CURLE_FILESIZE_EXCEEDED: self = .tooLarge
        case CURLE_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        case CURLE_UNSUPPORTED_PROTOCOL where answered: self = .unsupportedScheme
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM: self = .reset
        case _ where tlsCodes.contains(code.rawValue): self = .tlsFailure
        default: self = .other
        }
    }
}

private let tlsCodes = Set(
    [
        CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
        CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
        CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED,
    ].map(\.rawValue))
