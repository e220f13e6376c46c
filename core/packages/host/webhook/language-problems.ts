import type { Problem } from '@dispatch/common'
import { hostProblems, hostSettingProblems } from '../settings/hosts.ts'
import { secretNames, type SettingsSchema } from '../settings/settings-schema.ts'
import type { BodyForm } from './body.ts'
import { coversBody, type Part, partsOf, signedParts, type Spelled, spelled, type Verifier } from './language.ts'
import { knownKeysIn } from './public-keys.ts'

/** What a verifier is held against. */
type Around = { settings: SettingsSchema, form: BodyForm, confirmed: boolean }

/** The problems of a verifier beyond its shape: each says what would be right. */
export function verifierProblems (verify: Verifier, around: Around, path: string): Problem[] {
  const whole = spelled(verify)
  const named = Object.entries(namedBy(verify)).flatMap(([name, setting]) => settingProblems(name, setting, around.settings, path))
  switch (whole.kind) {
    case 'basic':
      return [...named, ...(whole.user === undefined) === (whole.password === undefined) ? [] : [{
        path,
        code: 'incomplete',
        message: 'Name a setting for both "user" and "password", or for neither.'
      }]]
    case 'hint':
      return around.confirmed ? [] : [{
        path,
        code: 'unconfirmed',
        message: 'Nobody has signed the event: with "hint", "confirm" is true, so that the vendor is asked for the status.'
      }]
    case 'signature':
    case 'token':
      return [...named, ...keyProblems(whole, around, `${path}/key`), ...signedProblems(whole, around, path)]
    default:
      return named
  }
}

/** The settings that a verifier names, by the field that names them. */
function namedBy (verify: Verifier): Record<string, { setting: string | undefined, secret: boolean }> {
  if (verify.kind === 'basic') {
    return { user: { setting: verify.user, secret: false }, password: { setting: verify.password, secret: true } }
  }
  if ('secret' in verify) return { secret: { setting: verify.secret, secret: true } }
  if (!('key' in verify)) return {}
  if ('secret' in verify.key) return { 'key/secret': { setting: verify.key.secret, secret: true } }
  return 'setting' in verify.key ? { 'key/setting': { setting: verify.key.setting, secret: false } } : {}
}

function settingProblems (
  field: string,
  { setting, secret }: { setting: string | undefined, secret: boolean },
  settings: SettingsSchema,
  path: string
): Problem[] {
  if (setting === undefined) return []
  if (!Object.hasOwn(settings.properties, setting)) {
    return [{ path: `${path}/${field}`, code: 'unknown_setting', message: `There is no setting "${setting}".` }]
  }
  return secret && !secretNames(settings).includes(setting)
    ? [{ path: `${path}/${field}`, code: 'not_secret', message: `The setting "${setting}" must be a Secret().` }]
    : []
}

function keyProblems ({ key }: Extract<Spelled, { kind: 'signature' | 'token' }>, { settings }: Around, path: string): Problem[] {
  if ('certificate' in key) {
    const wide = key.hosts.flatMap((host, index) =>
      host.includes('*') ?
        [{
          path: `${path}/hosts/${index}`,
          code: 'too_wide',
          message: 'A certificate from any host below a name proves nothing: name the hosts one by one, or with a setting such as ' +
            '"sns.{region}.example.com".'
        }] :
        []
    )
    const others = [...hostProblems(key.hosts), ...hostSettingProblems(key.hosts, settings)]
    return [...wide, ...others.map((problem) => ({ ...problem, path: `${path}${problem.path}` }))]
  }
  return 'fixed' in key && typeof key.fixed === 'string' && knownKeysIn(key.fixed) === undefined
    ? [{
      path: `${path}/fixed`,
      code: 'no_key',
      message: 'Expected: a public key in PEM, its DER in base64, or the 32 bytes of an Ed25519 key in base64.'
    }]
    : []
}

/** The pieces that say something of the event. */
function isOfEvent (part: Part): boolean {
  if (typeof part === 'string') return part === 'body' || part === 'address'
  return 'body' in part || 'query' in part || 'named' in part || ('hash' in part && part.of.some(isOfEvent))
}

function signedProblems (
  verify: Extract<Spelled, { kind: 'signature' | 'token' }>,
  { settings, form, confirmed }: Around,
  path: string
): Problem[] {
  const place = verify.kind === 'signature' ? `${path}/signed` : `${path}/claims`
  const all = signedParts(verify)
  const parts = partsOf(all)
  const has = (fits: (part: Part) => boolean): boolean => parts.some(fits)
  const timeless = verify.kind === 'token' || verify.time === undefined
  const unread = has((part) => part === 'time') && timeless
  const sorted = has((part) => typeof part === 'object' && 'named' in part && part.named === 'sorted') &&
    !['form', 'multipart', 'query'].includes(form)
  const unknown = parts.flatMap((part) =>
    typeof part === 'object' && 'setting' in part && !Object.hasOwn(settings.properties, part.setting) ? [part.setting] : []
  )
  const summed = all.some((part) => typeof part === 'object' && 'hash' in part && part.hash === 'crc32') && !coversBody(all)
  const problems: [boolean, string, string][] = [
    [verify.kind === 'signature' && !all.some(isOfEvent), 'nothing_signed',
      'Nothing of the event is signed: add "body", or the members that the vendor signs, such as { body: "/event/time" }.'],
    [unread, 'no_time', 'A "time" is signed: say in "time" where it stands, such as { at: { header: "X-Timestamp" } }.'],
    [sorted, 'no_form', 'Only a form has fields that can be sorted: "form" is "form", "multipart" or "query" then.'],
    [summed && !confirmed, 'unconfirmed',
      'A CRC proves nothing of the body: "confirm" is true then, so that the vendor is asked for the status.']
  ]
  return [
    ...problems.flatMap(([is, code, message]) => is ? [{ path: place, code, message }] : []),
    ...unknown.map((name) => ({ path: place, code: 'unknown_setting', message: `There is no setting "${name}".` }))
  ]
}
