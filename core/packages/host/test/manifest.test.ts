import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { deriveManifest } from '../manifest/derive.ts'
import { readManifest } from '../manifest/manifest.ts'
import { Host, Secret, Type } from '../provider.ts'

const sample = {
  code: 'acme',
  name: 'Acme',
  docs: 'https://docs.example/invoices',
  settings: Type.Object({ token: Secret({ title: 'Token' }), server: Host({ title: 'Server' }) }),
  requestSettings: Type.Object({ label: Type.Optional(Type.String()) }),
  hosts: ['api.acme.example', '*.files.acme.example'],
  errors: { at: '/code', message: ['/message', '/error/message'], map: { 21211: 'provider_error' } },
  services: {
    invoicing: {
      documentTypes: ['INVOICE', 'QUOTE'],
      sendByEmail: true,
      requires: ['/number'],
      idempotency: { kind: 'lookup', visibleAfter: 30 },
      timeLimit: 20,
      checkpoint: true,
      notProcessed: [503],
      dispatch: () => undefined,
      lookup: () => undefined
    }
  }
}

const expected = {
  code: 'acme',
  name: 'Acme',
  version: '1.2.3',
  docs: 'https://docs.example/invoices',
  settings: {
    type: 'object',
    required: ['token', 'server'],
    properties: {
      token: { type: 'string', minLength: 1, title: 'Token', 'x-secret': true },
      server: { type: 'string', minLength: 1, title: 'Server', 'x-destination': true }
    },
    additionalProperties: false
  },
  requestSettings: { type: 'object', properties: { label: { type: 'string' } }, additionalProperties: false },
  hosts: ['api.acme.example', '*.files.acme.example'],
  errors: { at: '/code', message: ['/message', '/error/message'], map: { 21211: 'provider_error' } },
  services: {
    invoicing: {
      capabilities: { documentTypes: ['INVOICE', 'QUOTE'], sendByEmail: true, requires: ['/number'] },
      idempotency: { kind: 'lookup', visibleAfter: 30 },
      timeLimit: 20,
      checkpoint: true,
      notProcessed: [503],
      verbs: ['dispatch', 'lookup']
    }
  }
}

await t.test('the manifest is the definition without its verbs, as plain JSON', (t) => {
  t.strictSame(deriveManifest(sample, '1.2.3'), { ok: true, value: expected })
  t.end()
})

await t.test('a manifest that went through JSON is the same manifest', (t) => {
  t.strictSame(readManifest(JSON.parse(JSON.stringify(expected))), { ok: true, value: expected })
  t.end()
})

await t.test('what a definition leaves out is empty', (t) => {
  const { code, name, settings, services } = sample
  has(t, deriveManifest({ code, name, settings, services }, '1.2.3'), {
    ok: true,
    value: { requestSettings: { properties: {}, additionalProperties: false }, errors: { map: {} }, hosts: [] }
  })
  has(t, deriveManifest({ code, name, settings, services, errors: { at: '/code' } }, '1.2.3'), {
    ok: true,
    value: { errors: { at: '/code', map: {} } }
  })
  t.end()
})

const connect = {
  authorizationUrl: 'https://api.acme.example/authorize',
  tokenUrl: 'https://login.files.acme.example/token',
  clientId: 'server',
  clientSecret: 'token'
}

const withConnect = (changes: object): object => ({ connect: { ...connect, ...changes } })

/** Settings with a text that may be any, and one of which the form has the choices. */
const withPlaces = (changes: object): object => ({
  ...withConnect(changes),
  settings: Type.Object({
    ...sample.settings.properties,
    region: Type.String(),
    country: Type.Union([Type.Literal('example'), Type.Literal('test')])
  })
})

await t.test('a connection at declared hosts is accepted, and several for different settings', (t) => {
  has(t, deriveManifest({ ...sample, connect }, '1.2.3'), { ok: true, value: { connect } })
  const ways = [{ ...connect, when: { server: 'a' }, tokenUrl: 'https://api.acme.example/{server}/token' }, connect]
  has(t, deriveManifest({ ...sample, connect: ways }, '1.2.3'), { ok: true, value: { connect: ways } })
  t.end()
})

const invoicing = sample.services.invoicing
const withInvoicing = (changes: object): object => ({ services: { invoicing: { ...invoicing, ...changes } } })

const refused: [string, object, string][] = [
  ['no service at all', { services: {} }, '/services Needs at least 1 fields.'],
  ['a service that is no object', { services: { invoicing: true } }, '/services/invoicing Expected object, got boolean.'],
  ['services as a list', { services: [] }, '/services Expected object, got array.'],
  ['no settings', { settings: undefined }, '/settings The field "settings" is required.'],
  ['a connection at a host that is not declared', withConnect({ tokenUrl: 'https://login.other.example/token' }),
    '/connect/tokenUrl "login.other.example" is not in "hosts", which has api.acme.example, *.files.acme.example.'],
  ['a connection over plain HTTP', withConnect({ authorizationUrl: 'http://api.acme.example/authorize' }),
    '/connect/authorizationUrl Expected: an https URL without a query.'],
  ['a connection with a query', withConnect({ authorizationUrl: 'https://api.acme.example/authorize?state=1' }),
    '/connect/authorizationUrl Expected: an https URL without a query.'],
  ['a connection of a client that is no setting', withConnect({ clientId: 'client' }), '/connect/clientId There is no setting "client".'],
  ['a connection of a client whose id is secret', withConnect({ clientId: 'token' }),
    '/connect/clientId The client id stands in the address of the vendor\'s page: it is no Secret().'],
  ['a connection of a client whose secret everybody sees', withConnect({ clientSecret: 'server' }),
    '/connect/clientSecret The client secret must be a Secret().'],
  ['a connection with a secret in a URL', withConnect({ tokenUrl: 'https://api.acme.example/{token}' }),
    '/connect/tokenUrl "token" is a secret, which may not stand in a URL.'],
  ['a connection with a setting in a URL that is none', withConnect({ tokenUrl: 'https://api.acme.example/{tenant}' }),
    '/connect/tokenUrl There is no setting "tenant".'],
  ['a connection at a host that is any text', withPlaces({ tokenUrl: 'https://{region}.acme.example/token' }),
    '/connect/tokenUrl "region" may be any text: a setting in a host has declared choices, or is a Host().'],
  ['a connection at a host that one choice leads elsewhere', withPlaces({ tokenUrl: 'https://api.acme.{country}/token' }),
    '/connect/tokenUrl "api.acme.test" is not in "hosts", which has api.acme.example, *.files.acme.example.'],
  ['a connection at a page that depends on what is not known yet',
    withConnect({ authorizationUrl: 'https://api.acme.example/{realm}', facts: { realm: { redirect: 'realm', pattern: '\\d+' } } }),
    '/connect/authorizationUrl The fact "realm" is not known yet when this address is asked.'],
  ['a token at an address that depends on the token',
    withConnect({ tokenUrl: 'https://api.acme.example/{realm}', facts: { realm: { token: '/realm', pattern: '\\d+' } } }),
    '/connect/tokenUrl The fact "realm" is not known yet when this address is asked.'],
  ['a fact that may be anything', withConnect({ facts: { realm: { redirect: 'realm', pattern: '[^]*' } } }),
    '/connect/facts/realm/pattern Say what the vendor\'s texts look like: anything fits this.'],
  ['a fact of no pattern', withConnect({ facts: { realm: { redirect: 'realm', pattern: '(' } } }),
    '/connect/facts/realm/pattern Not a regular expression.'],
  ['a fact of a pattern that may be tried for hours', withConnect({ facts: { realm: { redirect: 'realm', pattern: '(a+)+' } } }),
    '/connect/facts/realm/pattern On some texts this would be tried for hours: at most 3 of * + ? {n,m}, none of them behind a group, ' +
    'and one group with |.'],
  ['a fact that is the code', withConnect({ facts: { realm: { redirect: 'code', pattern: '\\d+' } } }),
    '/connect/facts/realm/redirect The host reads "code" itself.'],
  ['a fact with the name of a setting', withConnect({ facts: { server: { redirect: 'server', pattern: '\\d+' } } }),
    '/connect/facts/server There is a setting "server" already.'],
  ['a connection of two clients', withConnect({ client: 'operator' }),
    '/connect/clientId Name the setting with the client id, or say `client: \'operator\'`: one of the two.'],
  ['a connection of no client', withConnect({ clientId: undefined, clientSecret: undefined }),
    '/connect/clientId Name the setting with the client id, or say `client: \'operator\'`: one of the two.'],
  ['other addresses of a test environment that is none', withConnect({ sandbox: { tokenUrl: 'https://api.acme.example/test' } }),
    '/connect/sandbox Only a configuration of its own has other addresses: `sandbox: { kind: \'configuration\' }`.'],
  ['a connection for a setting that is none', { connect: [connect, { ...connect, when: { kind: 'a' } }] },
    '/connect/1/when/kind There is no setting "kind".'],
  ['no way to connect', { connect: [] }, '/connect Must not be empty.'],
  ['a connection with a field of the host', withConnect({ parameters: { state: '1', prompt: 'consent' } }),
    '/connect/parameters/state The host sets "state".'],
  ['documentation that is not a web page', { docs: 'http://docs.example' }, '/docs Does not match the pattern ^https://.'],
  [
    'an unknown kind of idempotency',
    withInvoicing({ idempotency: { kind: 'keys' } }),
    '/services/invoicing/idempotency/kind Expected one of "key", "lookup", "none" (did you mean "key"?).'
  ],
  [
    'a look-up without its delay',
    withInvoicing({ idempotency: { kind: 'lookup' } }),
    '/services/invoicing/idempotency/visibleAfter The field "visibleAfter" is required.'
  ],
  [
    'a key that never lives',
    withInvoicing({ idempotency: { kind: 'key', ttl: 0 } }),
    '/services/invoicing/idempotency/ttl Must be more than 0.'
  ],
  ['a time limit beyond ten minutes', withInvoicing({ timeLimit: 601 }), '/services/invoicing/timeLimit Must be at most 600.'],
  ['no document type', withInvoicing({ documentTypes: [] }), '/services/invoicing/capabilities/documentTypes Must not be empty.'],
  [
    'a misspelt capability',
    withInvoicing({ sendByMail: true }),
    '/services/invoicing/capabilities/sendByMail Unknown field "sendByMail" (did you mean "sendByEmail"?).'
  ],
  ['a verb that is no function', withInvoicing({ lookup: {} }), '/services/invoicing/capabilities/lookup Unknown field "lookup".'],
  [
    'statuses of nobody who can be asked',
    withInvoicing({ statuses: { settled: 'paid' } }),
    '/services/invoicing/verbs The verb "status" is required.'
  ],
  [
    'a cancellation of which nobody can be asked whether it was done',
    withInvoicing({ cancel: () => undefined }),
    '/services/invoicing/verbs The verb "status" is required.'
  ],
  [
    'a cancellation without a word for what is cancelled',
    withInvoicing({ cancel: () => undefined, statuses: { settled: 'paid' }, status: () => undefined }),
    '/services/invoicing/verbs The verb "cancel" needs a word of "statuses" for "cancelled".'
  ],
  [
    'delivery statuses of an invoice',
    withInvoicing({ statuses: { paid: 'delivered' }, status: () => undefined }),
    '/services/invoicing/statuses/paid Expected one of'
  ],
  ...['*', '*.com', 'https://api.acme.example', 'api.acme.example:8443', 'api.acme.example/v1', '127.0.0.1', 'localhost',
    'API.acme.example', 'a.*.example', ''].map((host): [string, object, string] => [`"${host}" as a host`, { hosts: [host] }, '/hosts/0 ']),
  ...[['*.co.uk', 'co.uk'], ['*.github.io', 'github.io'], ['*.s3.amazonaws.com', 's3.amazonaws.com'], ['*.foo.ck', 'foo.ck']].map(
    ([host, suffix]): [string, object, string] => [
      `every host below the public suffix ${suffix}`,
      { hosts: ['api.acme.co.uk', '*.acme.co.uk', host] },
      `/hosts/2 Anybody can have a host below "${suffix}", which is a public suffix: name the vendor's own domain, such as ` +
      `"*.vendor.${suffix}", or its hosts one by one; where each customer has a host of its own, make it a setting of the type Host().`
    ]
  ),
  ...['{bucket}.s3.amazonaws.com', 's3.{region}.amazonaws.com', '*.{label}.acme.example'].map((host): [string, object, string] => [
    `"${host}", whose setting is no Host()`,
    { hosts: [host] },
    `/hosts/0 There is no setting "${
      /\{(.*)\}/.exec(host)?.[1] ?? ''
    }" of the type Host(), whose change deletes the secrets that were given ` +
    'for another host.'
  ]),
  ...['{bucket}', '{bucket}.com', 'api.{bucket}', 'a{bucket}.acme.example', '{a.b}.acme.example', '{}.acme.example'].map(
    (host): [string, object, string] => [`"${host}" as a host`, { hosts: [host] }, '/hosts/0 ']
  ),
  ['a limit that is no pointer', withInvoicing({ limits: [{ at: 'number', fits: {} }] }), '/services/invoicing/limits/0/at '],
  [
    'a limit whose schema is none',
    withInvoicing({ limits: [{ at: '/data/number', fits: { maxLenght: 5 } }] }),
    '/services/invoicing/limits/0/fits Not a JSON Schema'
  ],
  [
    'a number that is used where no setting says so',
    {
      services: {
        esign: { signatureTypes: ['SIMPLE'], usesPhoneNumber: 'label', idempotency: { kind: 'none' }, dispatch: () => undefined }
      }
    },
    '/services/esign/capabilities/usesPhoneNumber There is no setting "label" that is a yes or no.'
  ],
  [
    'a window by a setting that is not there',
    {
      services: {
        postal: {
          mailTypes: ['SIMPLE'],
          addressPage: {
            window: { left: 22, top: 50, width: 80, height: 28 },
            windows: { setting: 'site', places: {} }
          },
          idempotency: { kind: 'none' },
          dispatch: () => undefined
        }
      }
    },
    '/services/postal/capabilities/addressPage/windows/setting There is no setting "site".'
  ],
  [
    'a sandbox told by the key of no setting',
    { sandbox: { kind: 'configuration', key: { setting: 'kee', test: '^test_' } } },
    '/sandbox There is no setting "kee".'
  ],
  ['something that no operator can give', { needs: ['moon'] }, '/needs/0 Expected "disk".'],
  ['an error pointer that is none', { errors: { at: 'code' } }, '/errors/at '],
  ['a checkpoint that is neither there nor not', withInvoicing({ checkpoint: 'yes' }), '/services/invoicing/checkpoint '],
  ['a success that is not processed', withInvoicing({ notProcessed: [200] }), '/services/invoicing/notProcessed/0 Must be at least 400.'],
  [
    'a secret that is no text',
    { settings: Type.Object({ pin: Type.Number({ 'x-secret': true }) }) },
    '/settings/properties/pin A secret or a destination must be a string.'
  ],
  [
    'a destination that is no text',
    { settings: Type.Object({ port: Type.Number({ 'x-destination': true }) }) },
    '/settings/properties/port A secret or a destination must be a string.'
  ],
  [
    'a secret inside another field',
    { settings: Type.Object({ login: Type.Object({ password: Secret() }) }) },
    '/settings/properties/login A secret or a destination must be a field of the settings themselves, not of an inner object.'
  ],
  [
    'a destination in a list',
    { settings: Type.Object({ servers: Type.Array(Host()) }) },
    '/settings/properties/servers A secret or a destination must be a field of the settings themselves, not of an inner object.'
  ],
  [
    'a schema with an unknown keyword',
    { settings: Type.Object({ a: Type.String({ maxLenght: 5 }) }) },
    '/settings Not a JSON Schema: strict mode: unknown keyword: "maxLenght"'
  ],
  [
    'a secret in request settings',
    { requestSettings: Type.Object({ pin: Secret() }) },
    '/requestSettings/properties/pin A secret belongs in the settings of a configuration, which are encrypted, not in those of a request.'
  ],
  [
    'request settings that are no schema',
    { requestSettings: Type.Object({ a: Type.String({ pattern: '(' }) }) },
    '/requestSettings Not a JSON Schema: '
  ],
  ['a schema that claims a name for itself', { settings: Type.Object({}, { $id: 'acme' }) }, '/settings/$id ']
]

for (const [fault, changes, sentence] of refused) {
  await t.test(`${fault} is refused`, (t) => {
    const fit = deriveManifest({ ...sample, ...changes }, '1.2.3')
    has(t, fit.ok ? 'accepted' : fit.problems.map(({ path, message }) => `${path} ${message}`), [new RegExp(`^${RegExp.escape(sentence)}`)])
    t.equal(fit.ok ? 0 : fit.problems.length, 1)
    t.end()
  })
}

await t.test('a definition cannot choose its version: the package does', (t) => {
  has(t, deriveManifest({ ...sample, version: '9.9.9' }, '1.2.3'), { value: { version: '1.2.3' } })
  t.end()
})
