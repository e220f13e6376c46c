import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { readRequest } from '../requests.ts'

const requestWith = (fields: JsonObject): JsonObject => ({ call: 1, request: 1, method: 'POST', url: 'https://a.example', fields })
const jwtWith = (algorithm: string): JsonObject => requestWith({ jwt: { algorithm, key: 'k' } })
const signInWith = (more: JsonObject): JsonObject => requestWith({ oauth2: { tokenUrl: 'https://a.example', grant: 'password', ...more } })
const mailOver = (more: JsonObject): JsonObject => ({
  call: 1,
  message: { from: 'a@a.example', to: [], subject: '', html: '' },
  transport: { host: 'a.example', ...more }
})
const times = (max: number): string[] => Array.from({ length: max }, () => 'x')

void t.test('each choice that a provider has is read from its process, and no other', (t) => {
  const choices: [choices: string[], ask: (choice: string) => [name: Parameters<typeof readRequest>[0], args: JsonObject]][] = [
    [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], (method) => ['request', { ...requestWith({}), method }]],
    [['RS256', 'ES256', 'EdDSA', 'HS256'], (algorithm) => ['request', jwtWith(algorithm)]],
    [['client_credentials', 'password', 'jwt_bearer'], (grant) => ['request', signInWith({ grant })]],
    [['authorization_code'], (grant) => ['request', requestWith({ oauth2: { grant } })]],
    [['basic', 'body'], (clientAuth) => ['request', signInWith({ clientAuth })]],
    [['repeated', 'brackets', 'indexed'], (arrays) => ['request', requestWith({ arrays })]],
    [['text', 'xml'], (replyAs) => ['request', requestWith({ replyAs })]],
    [['starttls', 'tls'], (security) => ['send', mailOver({ security })]],
    [['get', 'put', 'putIfAbsent', 'delete'], (word) => ['state', { call: 1, word, key: 'k' }]],
    [['debug', 'info', 'warn', 'error'], (level) => ['log', { call: 1, level, facts: {}, message: '' }]]
  ]
  for (const [all, ask] of choices) {
    for (const choice of all) t.same(readRequest(...ask(choice)), ask(choice)[1], choice)
    t.throws(() => readRequest(...ask('other')), TypeError, all.join())
  }
  t.end()
})

void t.test('what is beyond a bound is refused in a sentence', (t) => {
  const bounds: [name: Parameters<typeof readRequest>[0], within: JsonObject, beyond: JsonObject][] = [
    ['send', mailOver({ port: 65_535 }), mailOver({ port: 65_536 })],
    ['send', mailOver({ port: 1 }), mailOver({ port: 0 })],
    ['wait', { call: 0, seconds: 0 }, { call: 0, seconds: -1 }],
    ['wait', { call: 0, seconds: 0 }, { call: -1, seconds: 0 }],
    ['onRefusal', { call: 0, id: 10_000 }, { call: 0, id: 10_001 }],
    ['onRefusal', { call: 0, id: 0 }, { call: 0, id: -1 }],
    ['request', requestWith({ basic: times(2) }), requestWith({ basic: times(3) })],
    ['request', requestWith({ basic: times(2) }), requestWith({ basic: times(1) })],
    ['request', requestWith({ replyHeaders: times(50) }), requestWith({ replyHeaders: times(51) })],
    ['download', { call: 1, url: '', fields: { filename: 'x'.repeat(1000) } }, { call: 1, url: '', fields: { filename: 'x'.repeat(1001) } }]
  ]
  for (const [name, within, beyond] of bounds) {
    t.same(readRequest(name, within), within)
    t.throws(() => readRequest(name, beyond), TypeError)
  }
  const sentence = 'What was given to "wait" cannot be read: /seconds '
  t.throws(() => readRequest('wait', { call: 0, seconds: -1 }), { message: new RegExp(`^${sentence}`) })
  t.end()
})
