import HTTPSyntax
import Testing

@testable import liverelay

private let fields: [(when: String, authorization: String?, allows: Bool)] = [
    ("the token", "Bearer s3cret", true), ("another case of the scheme", "bearer s3cret", true),
    ("several spaces", "Bearer   s3cret", true), ("no field", nil, false), ("empty", "", false),
    ("the scheme alone", "Bearer", false), ("an empty token", "Bearer ", false), ("no scheme", "s3cret", false),
    ("another scheme", "Basic s3cret", false), ("another token", "Bearer s3cres", false),
    ("a beginning", "Bearer s3cre", false), ("a longer one", "Bearer s3crets3cret", false),
    ("with its quotes", "Bearer \"s3cret\"", false), ("two fields", "Bearer s3cret, Bearer s3cret", false),
    ("a space at the end", "Bearer s3cret ", false),
]

@Test(arguments: fields) func tokenIsCompared(when: String, authorization: String?, allows: Bool) throws {
    let token = try #require(APIToken("s3cret"))
    #expect(token.allows(authorization: authorization) == allows, "\(when)")
}

@Test(arguments: ["", "a b", "a\n", "é", "\u{7F}"]) func tokenThatNobodyCanSendIsNone(text: String) {
    #expect(APIToken(text) == nil)
}

@Test func refusalSaysWhatIsMissing() throws {
    let token = try #require(APIToken("s3cret"))
    func status(_ authorization: String?, _ token: APIToken?) -> (Int?, String?) {
        let target = RequestTarget(
            method: .get, path: "/api/events", query: [], fields: .init(authorization: authorization))
        let response = APIToken.refusal(of: target, token: token)
        return (response?.status.rawValue, response?.extraHeaders.first { $0.name == "WWW-Authenticate" }?.value)
    }
    #expect(status("Bearer s3cret", token) == (nil, nil))
    #expect(status(nil, token) == (401, "Bearer realm=\"liverelay\""))
    #expect(status("Bearer x", token) == (401, "Bearer realm=\"liverelay\", error=\"invalid_token\""))
    #expect(status("Bearer s3cret", nil) == (403, nil))
}
