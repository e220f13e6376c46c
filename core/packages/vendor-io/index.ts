/**
 * `@dispatch/vendor-io`: the ways of a provider's call to the outside. How its requests end is `@dispatch/vendor-io/outcome`.
 */

// HTTPS: one call's `http`, what it may reach, how it signs in.
export { aroundHttp, askOf, httpOf, type FitToReply } from './http/ask.ts'
export { basicHeader } from './http/basic-auth.ts'
export type { ReadDocument } from './documents/own-documents.ts'
export type { Http, HttpCall, HttpVerb } from './http/call.ts'
export { createHttp, type HttpOptions, type KeepDocument } from './http/client.ts'
export type { Connection, Facts, Tokens } from './http/connection.ts'
export { credentialsOf, type Credential } from './http/credentials.ts'
export { isCredentialField } from './notes/credential-fields.ts'
export { formPairs } from './http/form.ts'
export { isNetwork, type Guard } from './http/guard.ts'
export { signJwt, type Jwt } from './http/jwt.ts'
export { createNetwork, type Network, type NetworkOptions } from './network.ts'
export { createAccessTokenCache, tokenRequest, usableFor, type AccessTokenCache, type OAuth2 } from './http/oauth.ts'
export type { OAuth1 } from './http/oauth1.ts'
export { addressProblems } from './http/public-address.ts'
export type { SessionSignIn } from './http/session.ts'
export type { SigV4 } from './http/sigv4.ts'
export { chosenHosts, isDeclared, type AllowedHosts } from './http/target.ts'
export { askForToken, clientSignIn, revokeToken, type OAuthClient } from './http/token-endpoint.ts'
export type { HttpTransport, Route, TransportRequest } from './http/transport.ts'
export { parseXml, xmlText, type XmlFields, type XmlValue } from './http/xml.ts'

// Requests of the service itself: callbacks, public JSON, sign-in with OpenID Connect.
export { postToTenant, receiverLimit, type ReceiverAnswer } from './http/callback.ts'
export { createFetchJson, type FetchJson } from './http/fetch-json.ts'
export { createOpenId, OpenIdFailure, type OpenId, type OpenIdClient, type OpenIdPerson } from './http/openid.ts'

// Who receives in Peppol. The libraries for signed XML are loaded with the first question.
export type { Participant, Peppol, PeppolOptions, Published } from './peppol/directory.ts'
export { createPeppol } from './peppol/peppol.ts'

// SMTP.
export type { Smtp, SmtpMessage, SmtpReceipt, SmtpTransport } from './smtp/message.ts'
export { createSmtp } from './smtp/smtp.ts'

// Documents of a call, and files on the operator's disk.
export { createDocuments, type Digest, type Documents } from './call-documents.ts'
export { createDocumentSpool, type DocumentSpool } from './documents/document-spool.ts'
export { createFiles, type CompanyDisk, type Files } from './files/files.ts'
export { isInFolder } from './files/folder.ts'
export { createOwnDocuments, type OwnDocuments } from './documents/own-documents.ts'

// What is noted of a call, without its secrets.
export { createNotebook, maskedHeader, type EndedCall, type Exchange, type Notebook } from './notes/exchanges.ts'
export { createRedactor, innerBase64, mapTexts, marker, nothingToHide, patternOf, redactError, redactLog, writtenForms,
  type OfConfiguration, type Redactor } from './notes/redact.ts'
