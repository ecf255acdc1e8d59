package import Fetch
import Support
import Synchronization

/// Records of a fleet in etcd, by its JSON gateway (v3).
///
/// Each compare names its target: a compare without one compares a version with 0, and is true where the key is absent.
/// No lease of etcd is used, because a restart of etcd gives each lease its whole time anew.
package final class EtcdEngine: FleetEngine {
    package struct Location: Equatable, Sendable {
        /// `https://host:port`, each with the same records.
        package let members: [String]
        /// The beginning of all keys, with a slash at its end.
        package let prefix: String
        let user: String?
        let password: Secret?

        /// Reads `etcd://[USER:PASSWORD@]HOST[:PORT],…/PREFIX`, or the same with `etcds` for TLS.
        package init?(parsing text: String) {
            let scheme: String
            if text.hasPrefix("etcd://") {
                scheme = "http"
            } else if text.hasPrefix("etcds://") {
                scheme = "https"
            } else {
                return nil
            }
            let rest = text.drop { $0 != ":" }.dropFirst(3)
            let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            var hosts = parts[0]
            if let at = hosts.lastIndex(of: "@") {
                let names = hosts[..<at].split(separator: ":", maxSplits: 1).map { PercentEncoding.decode($0) ?? "" }
                guard names.count == 2 else { return nil }
                (user, password) = (names[0], Secret(names[1]))
                hosts = hosts[hosts.index(after: at)...]
            } else {
                (user, password) = (nil, nil)
            }
            members = hosts.split(separator: ",").map { host in
                "\(scheme)://\(host)\(host.contains(":") && !host.hasSuffix("]") ? "" : ":2379")"
            }
            let folders = parts.count > 1 ? parts[1].split(separator: "/") : []
            prefix = (folders.isEmpty ? ["liverelay"] : folders).map { "\($0)/" }.joined()
            guard !members.isEmpty, members.allSatisfy({ URIReference.host(of: $0)?.isEmpty == false }) else {
                return nil
            }
        }
    }

    private struct State {
        /// The member that answered last.
        var member = 0
        /// The revision of the node's own record; 0: it is absent.
        var revision: Int64 = 0
        var token: String?
    }

    private static let requestLimit = Duration.seconds(2)
    private static let answerBytes = 32 << 20

    private let location: Location
    private let key: FleetKey
    private let fetchers: [CurlFetcher]
    private let state = Mutex(State())

    package init(
        _ location: Location, key: FleetKey, requests: CurlConfiguration = CurlConfiguration()
    ) throws(EngineError) {
        (self.location, self.key) = (location, key)
        var requests = requests
        requests.connectLimit = .seconds(1)
        requests.keyLimits = .init(
            bodyBytes: Self.answerBytes, idle: Self.requestLimit, total: Self.requestLimit)
        var fetchers: [CurlFetcher] = []
        for member in location.members {
            do throws(FetchError) { fetchers.append(try CurlFetcher(upstream: member, configuration: requests)) } catch
            {
                throw EngineError(.unreachable(error.message))
            }
        }
        self.fetchers = fetchers
    }

    package func beat(_ record: NodeRecord, sentAt: Duration) async throws(EngineError) -> FleetView {
        let place = nodeKey(record.node)
        var revision = state.withLock { $0.revision }
        // An earlier write whose answer was lost may have come since, so the first attempt may fail once.
        for _ in 0..<2 {
            var compare = JSONObject()
            compare.add("target", "MOD")
            compare.add("result", "EQUAL")
            compare.add("key", place)
            compare.add("mod_revision", String(revision))
            let answer = try await transact(
                compare, success: [Self.put(place, key.sealed(record.text)), range("nodes/"), range("owners/")],
                failure: [Self.range(place)])
            let responses = answer["responses"].elements
            guard answer["succeeded"].text == "true" else {
                let found = responses.first?["response_range"]["kvs"].elements.first
                revision = found?.number("mod_revision") ?? 0
                state.withLock { [revision] in $0.revision = revision }
                continue
            }
            guard responses.count == 3, let written = answer["header"].number("revision") else { throw Self.unreadable }
            state.withLock { $0.revision = written }
            return FleetView(
                counter: record.counter, sentAt: sentAt, nodes: nodes(in: responses[1]),
                owners: owners(in: responses[2]))
        }
        throw EngineError(.refused(status: 200, words: "another process writes the record of this node"))
    }

    package func create(_ record: OwnerRecord) async -> Bool? {
        let place = ownerKey(record.subject, record.epoch)
        var compare = JSONObject()
        compare.add("target", "CREATE")
        compare.add("result", "EQUAL")
        compare.add("key", place)
        compare.add("create_revision", "0")
        let older = ownerKey(
            record.subject, record.epoch > FleetRecords.keptEpochs ? record.epoch - FleetRecords.keptEpochs : 0)
        var removal = JSONObject()
        removal.add("key", ownerKey(record.subject, 0))
        removal.add("range_end", older)
        let removed = JSONObject(nesting: "request_delete_range", removal)
        do throws(EngineError) {
            let answer = try await transact(
                compare, success: [Self.put(place, key.sealed(record.text)), removed], failure: [Self.range(place)])
            if answer["succeeded"].text == "true" { return true }
        } catch {}
        return await readBack(place, record)
    }

    private func readBack(_ place: String, _ record: OwnerRecord) async -> Bool? {
        var body = JSONObject()
        body.add("key", place)
        guard let answer = try? await post("/v3/kv/range", body),
            let value = answer["kvs"].elements.first?["value"].text.flatMap(Base64.decode)
        else { return nil }
        return value == key.sealed(record.text)
    }

    package func removeNodes(_ nodes: [String]) async {
        for node in nodes {
            var body = JSONObject()
            body.add("key", nodeKey(node))
            _ = try? await post("/v3/kv/deleterange", body)
        }
    }

    package func removeSubject(_ subject: String) async {
        var body = JSONObject()
        body.add("key", Base64.encode(Array("\(location.prefix)owners/\(FleetRecords.name(of: subject))/".utf8)))
        body.add("range_end", Base64.encode(Array("\(location.prefix)owners/\(FleetRecords.name(of: subject))0".utf8)))
        _ = try? await post("/v3/kv/deleterange", body)
    }
}

// MARK: - Keys and requests

extension EtcdEngine {
    private static let unreadable = EngineError(.refused(status: 200, words: "its answer cannot be read"))

    private func nodeKey(_ node: String) -> String { Base64.encode(Array("\(location.prefix)nodes/\(node)".utf8)) }

    private func ownerKey(_ subject: String, _ epoch: UInt64) -> String {
        Base64.encode(Array("\(location.prefix)owners/\(FleetRecords.key(of: subject, epoch))".utf8))
    }

    private static func put(_ key: String, _ value: [UInt8]) -> JSONObject {
        var request = JSONObject()
        request.add("key", key)
        request.add("value", Base64.encode(value))
        return JSONObject(nesting: "request_put", request)
    }

    private static func range(_ key: String) -> JSONObject {
        var request = JSONObject()
        request.add("key", key)
        return JSONObject(nesting: "request_range", request)
    }

    /// All keys of a folder.
    private func range(_ folder: String) -> JSONObject {
        var request = JSONObject()
        request.add("key", Base64.encode(Array("\(location.prefix)\(folder)".utf8)))
        // The byte after the slash.
        request.add("range_end", Base64.encode(Array("\(location.prefix)\(folder.dropLast())0".utf8)))
        return JSONObject(nesting: "request_range", request)
    }

    private func nodes(in response: LooseJSON) -> [String: NodeRecord?] {
        var nodes: [String: NodeRecord?] = [:]
        for (name, value) in pairs(in: response, "nodes/") {
            nodes.updateValue(key.node(name, in: value), forKey: name)
        }
        return nodes
    }

    private func owners(in response: LooseJSON) -> [String: Ownership] {
        var owners: [String: Ownership] = [:]
        for (key, value) in pairs(in: response, "owners/") {
            guard let (subject, epoch) = FleetRecords.subject(inKey: key), epoch > owners[subject]?.epoch ?? 0 else {
                continue
            }
            owners[subject] = self.key.ownership(of: subject, epoch, in: value)
        }
        return owners
    }

    /// Keys below a folder, and their values.
    private func pairs(in response: LooseJSON, _ folder: String) -> [(String, [UInt8])] {
        response["response_range"]["kvs"].elements.compactMap { pair in
            guard let key = pair["key"].text.flatMap(Base64.decode) else { return nil }
            let name = String(decoding: key, as: UTF8.self).dropFirst(location.prefix.count + folder.count)
            return (String(name), pair["value"].text.flatMap(Base64.decode) ?? [])
        }
    }

    private func transact(
        _ compare: JSONObject, success: [JSONObject], failure: [JSONObject]
    ) async throws(EngineError) -> LooseJSON {
        var body = JSONObject()
        body.add("compare", list: [compare])
        body.add("success", list: success)
        body.add("failure", list: failure)
        return try await post("/v3/kv/txn", body)
    }

    /// Sends a request to the member that answered last, or else to the others.
    ///
    /// A request is repeated only where that does no harm: a member that refused the connection or the token has done
    /// nothing, and each change has a condition.
    private func post(_ path: String, _ body: JSONObject) async throws(EngineError) -> LooseJSON {
        var failure = EngineError(.unreachable(""))
        for attempt in 0..<(fetchers.count + 1) {
            let (member, token) = state.withLock { ($0.member, $0.token) }
            do throws(EngineError) {
                if location.user != nil, token == nil { try await authenticate(member) }
                let token = state.withLock { $0.token }
                return try await post(path, body, to: member, token)
            } catch {
                failure = error
                if case .refused(401, _) = error.reason, attempt == 0 {
                    state.withLock { $0.token = nil }
                    continue
                }
                state.withLock { if $0.member == member { $0.member = (member + 1) % fetchers.count } }
                if case .refused(let status, _) = error.reason, (400..<500).contains(status) { throw error }
            }
        }
        throw failure
    }

    private func authenticate(_ member: Int) async throws(EngineError) {
        var body = JSONObject()
        body.add("name", location.user)
        body.add("password", location.password?.value)
        let answer = try await post("/v3/auth/authenticate", body, to: member, nil)
        state.withLock { $0.token = answer["token"].text }
    }

    private func post(
        _ path: String, _ body: JSONObject, to member: Int, _ token: String?
    ) async throws(EngineError) -> LooseJSON {
        let fields = token.map { [FetchAnswer.Header(name: "Authorization", value: $0)] } ?? []
        let content = RequestContent(type: "application/json", bytes: Array(body.text.utf8), fields: fields)
        switch await fetchers[member].send(content, to: location.members[member] + path) {
        case .failure(let error): throw EngineError(.unreachable("\(error.reason.rawValue) \(error.message)"))
        case .success(let answer):
            guard answer.isSuccess, let json = LooseJSON(answer.body) else {
                throw EngineError(
                    .refused(status: answer.status, words: answer.words(withoutSecretsOf: location.members[member])))
            }
            return json
        }
    }
}

extension JSONObject {
    fileprivate init(nesting name: String, _ object: JSONObject) {
        self.init()
        add(name, object)
    }
}

/// The keys of records, which both engines share.
enum FleetRecords {
    /// The number of epochs of a subject whose records are kept.
    static let keptEpochs: UInt64 = 1
    private static let digits = 20

    /// A subject in keys: percent-encoded, because the name of an account is any text.
    static func name(of subject: String) -> String { PercentEncoding.encode(subject) }

    static func number(_ number: UInt64) -> String {
        let text = String(number)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    static func key(of subject: String, _ epoch: UInt64) -> String { "\(name(of: subject))/\(number(epoch))" }

    /// The subject and the epoch of a key; nil for any other key.
    static func subject(inKey key: some StringProtocol) -> (String, UInt64)? {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let subject = PercentEncoding.decode(Substring(parts[0])), let epoch = UInt64(parts[1])
        else { return nil }
        return (subject, epoch)
    }
}
