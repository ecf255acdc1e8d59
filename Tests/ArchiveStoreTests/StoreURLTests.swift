import Testing

@testable import ArchiveStore
@testable import Support

private let urlRows: [(text: String, host: String, path: String)] = [
    ("s3://news", "news.s3.us-east-1.amazonaws.com", "/a%20b/c.m4s"),
    ("s3://news?region=eu-west-1&style=path", "s3.eu-west-1.amazonaws.com", "/news/a%20b/c.m4s"),
    ("s3://news/tv/?endpoint=http://127.0.0.1:9000", "127.0.0.1:9000", "/news/a%20b/c.m4s"),
    ("s3://news/tv?endpoint=https%3A%2F%2Fstore.example&style=virtual", "news.store.example", "/a%20b/c.m4s"),
    ("s3://news?endpoint=https://store.example:443", "store.example", "/news/a%20b/c.m4s"),
    ("s3://news?endpoint=http://[::1]:80", "[::1]", "/news/a%20b/c.m4s"),
]

@Test(arguments: urlRows) func placesOfObjects(text: String, host: String, path: String) throws {
    let url = try StoreURL(parsing: text)
    #expect(url.host == host && url.path(of: "a b/c.m4s") == path)
    #expect(url.folder("one").prefix == url.prefix + "one/")
}

private let badURLs: [(text: String, fault: StoreURL.Fault)] = [
    ("https://news/tv", .bucket), ("s3://", .bucket), ("s3://No/tv", .bucket), ("s3:/news", .bucket),
    ("s3://news?endpoint=ftp://h", .parameter("endpoint")),
    ("s3://news?endpoint=http://h/path", .parameter("endpoint")),
    ("s3://news?endpoint=http://u:p@h", .parameter("endpoint")), ("s3://news?style=host", .parameter("style")),
    ("s3://news?region=EU", .parameter("region")), ("s3://news?acl=public", .parameter("acl")),
]

@Test(arguments: badURLs) func refusedPlaces(text: String, fault: StoreURL.Fault) {
    #expect(throws: fault) { try StoreURL(parsing: text) }
}

/// The example of the reference of Signature Version 4.
@Test func signsAsTheReference() throws {
    let signature = RequestSignature(
        store: try StoreURL(parsing: "s3://examplebucket?endpoint=https://s3.amazonaws.com&style=virtual"),
        credentials: StoreCredentials(
            keyID: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
    let date = try #require(ProgramDateTime(parsing: "2013-05-24T00:00:00Z"))
    let url = signature.url("GET", "test.txt", validity: .seconds(86_400), at: date)
    #expect(url.hasSuffix("&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"))
    #expect(url.hasPrefix("https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&"))
}

private let credentialRows: [(text: String, keyID: String?)] = [
    ("[default]\naws_access_key_id = A\naws_secret_access_key=b=c\n", "A"),
    ("# comment\r\n[other]\r\naws_access_key_id=B\r\n[default]\r\naws_access_key_id=A\r\naws_secret_access_key=s", "A"),
    ("[other]\naws_access_key_id = A\naws_secret_access_key = b", nil),
    ("aws_access_key_id = A", nil), ("", nil),
]

@Test(arguments: credentialRows) func keysOfFiles(text: String, keyID: String?) {
    #expect(StoreCredentials(file: text)?.keyID == keyID)
}

@Test func keyOfTheEnvironment() {
    let values = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": ""]
    #expect(StoreCredentials(environment: values) == StoreCredentials(keyID: "A", secretKey: "b"))
    #expect(StoreCredentials(environment: ["AWS_ACCESS_KEY_ID": "A"]) == nil)
}
