import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { compile } from '../../common/schema.ts'
import { CallbackUrl } from '../common.ts'

const check = compile(CallbackUrl)

await t.test('status events go to an https URL that leads somewhere, without user name or password', (t) => {
  for (const url of ['https://example.com', 'https://example.com:8443/hook?a=b#c', 'https://bücher.example/', 'https://127.0.0.1/']) {
    t.equal(check(url).ok, true, url)
  }
  const refused = [
    'http://example.com/',
    'HTTPS://example.com/',
    'ftp://example.com/',
    '//example.com/',
    '/hook',
    'https://',
    'https:///hook',
    'https://?a',
    'https://ada@example.com/',
    'https://ada:secret@example.com/',
    ' https://example.com/',
    'https://exam ple.com/',
    'https://example.com/a b',
    'https://example.com/\nX',
    'https://:443/',
    'https://[::1/',
    'https://%zz/',
    'https://example.com:99999/',
    'https://1.2.3.400/'
  ]
  for (const url of refused) {
    has(t, check(url), {
      ok: false,
      problems: [{ code: 'format', message: 'Not a valid https:// URL (one without user name and password).' }]
    }, url)
  }
  t.end()
})
