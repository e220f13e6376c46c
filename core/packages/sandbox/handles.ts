import type { Json, JsonObject } from '@dispatch/common'
import { computedNames, type SettingsSchema, splitSecrets } from '@dispatch/host'
import { innerBase64, mapTexts, marker, patternOf, writtenForms } from '@dispatch/vendor-io'
import { randomBytes } from 'node:crypto'
import { errorDataOf, errorFrom } from './errors.ts'

/** Texts that stand for the secrets of one call in the process of an adapter, which never has the secrets themselves. */
export type SecretHandles = {
  /** The settings as the process gets them. */
  settings: JsonObject
  /** The secrets that the process gets itself, because it computes with them. */
  given: readonly string[]
  /** What the process sent, with the secrets in place of their handles. */
  reveal: <Value>(value: Value) => Value
  /** What the process is told, with the handles in place of their secrets. */
  hide: <Value>(value: Value) => Value
  /** An error that the process threw, as {@link reveal}. */
  revealError: (error: unknown) => unknown
  /** An error that the process is told, as {@link hide}. */
  hideError: (error: unknown) => unknown
}

/**
 * Characters of a secret that is looked for in what comes from a vendor. A shorter one occurs by chance, and a reply that is changed may
 * no longer be understood.
 */
const shortestHidden = 8

/** Written differently inside JSON, a URL, a part of a URL and a form: each form of a handle tells which form of its secret is meant. */
const handleOf = (id: string): string => `<"secret/ ${id}">`
const anyHandle = /<\\?"secret\/ [\da-f]{32}/

/** Handles for the secrets of a call's settings, but for those that the adapter computes with. They mean nothing in any other call. */
export function createSecretHandles (form: SettingsSchema, settings: JsonObject): SecretHandles {
  const { plain, secrets } = splitSecrets(form, settings)
  const computed = computedNames(form)
  const held = Object.entries(secrets).filter(([name]) => !computed.includes(name)).map(([name, secret]) => ({
    name,
    secret,
    handle: handleOf(randomBytes(16).toString('hex'))
  }))
  const reveal = replacer(new Map(held.flatMap(({ handle, secret }) => paired(handle, secret))))
  const hide = replacer(new Map(held.filter(({ secret: { length } }) => length >= shortestHidden).flatMap(hidings)))
  const everywhere = (replace: (text: string) => string) => <Value>(value: Value): Value => mapTexts(value as Json, replace) as Value
  const inError = (replace: (text: string) => string) => (error: unknown): unknown => {
    const data = errorDataOf(error)
    const replaced = everywhere(replace)(data)
    return JSON.stringify(replaced) === JSON.stringify(data) ? error : errorFrom(replaced)
  }
  return {
    given: Object.entries(secrets).filter(([name]) => computed.includes(name)).map(([, secret]) => secret),
    settings: { ...plain, ...secrets, ...Object.fromEntries(held.map(({ name, handle }) => [name, handle])) },
    reveal: everywhere(reveal),
    hide: everywhere(hide),
    revealError: inError(reveal),
    hideError: inError(hide)
  }
}

/** Throws a TypeError where a handle stands in what an adapter asks after those of its call have been resolved. */
export function refuseForeignHandles (requested: unknown): void {
  if (!anyHandle.test(JSON.stringify(requested))) return
  throw new TypeError('The secret of another call was used: the settings of a call may not be kept for the next one.')
}

/** Each form of a text with the same form of another one; the plain form counts where several are the same. */
function paired (from: string, to: string): [from: string, to: string][] {
  const others = writtenForms(to)
  return writtenForms(from).map((form, index): [string, string] => [form, others[index] ?? to]).toReversed()
}

function hidings ({ secret, handle }: { secret: string, handle: string }): [from: string, to: string][] {
  return [...innerBase64(secret).map((form): [string, string] => [form, marker]), ...paired(secret, handle)]
}

/** Replaces the keys of the map by their values. */
function replacer (replacements: ReadonlyMap<string, string>): (text: string) => string {
  const forms = [...replacements.keys()]
  let pattern: RegExp | undefined
  return (text) => {
    if (!forms.some((form) => text.includes(form))) return text
    pattern ??= patternOf(forms)
    return text.replace(pattern, (form) => replacements.get(form) ?? form)
  }
}
