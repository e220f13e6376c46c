import { type JsonObject, pointer, type Problem } from '@dispatch/common'
import type { Manifest } from './manifest.ts'

/**
 * The problems of complete settings in a sandbox (`sandbox`) or outside of one: the vendor has no sandbox, a setting of the sandbox is
 * missing, or a key belongs to the other environment. Paths begin with `/sandbox` or `/settings`.
 */
export function sandboxFaults (
  { code, sandbox: kind }: Pick<Manifest, 'code' | 'sandbox'>,
  settings: JsonObject,
  sandbox: boolean
): Problem[] {
  if (kind === undefined) {
    return sandbox
      ? [{
        path: '/sandbox',
        code: 'no_sandbox',
        message: `The provider "${code}" has no sandbox: every dispatch is real. Leave "sandbox" out.`
      }]
      : []
  }
  if (kind.kind === 'flag') return sandbox ? missing(kind.needs ?? [], settings) : []
  return kind.key === undefined ? [] : otherKey(kind.key, settings, sandbox)
}

function missing (needs: readonly string[], settings: JsonObject): Problem[] {
  return needs.filter((name) => settings[name] === undefined).map((name) => ({
    path: pointer('/settings', name),
    code: 'required',
    message: 'A sandbox needs this setting.'
  }))
}

function otherKey ({ setting, test }: { setting: string, test: string }, settings: JsonObject, sandbox: boolean): Problem[] {
  const key = settings[setting]
  if (typeof key !== 'string' || new RegExp(test, 'u').test(key) === sandbox) return []
  const message = sandbox
    ? 'A sandbox needs a test key, but this is a live key.'
    : 'This is a test key, with which nothing real happens: only a sandbox may have one.'
  return [{ path: pointer('/settings', setting), code: 'wrong_environment', message }]
}
