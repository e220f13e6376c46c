import { refused } from './failure.ts'

/**
 * The vendor's key, where it is of the environment that is meant: a sandbox sends with a test key alone, and nothing else has
 * one. `test` says what a test key looks like. Throws a refusal (`wrong_environment`), before anything is sent.
 */
export function keyFor ({ sandbox }: { sandbox: boolean }, key: string, test: RegExp): string {
  if (test.test(key) === sandbox) return key
  throw refused('wrong_environment', sandbox
    ? 'A sandbox configuration needs a test key, and this is a live one: nothing was sent.'
    : 'What is made with a test key is not real: only a sandbox configuration may have one.')
}
