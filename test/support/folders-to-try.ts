import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

/** Providers and adapters that have, together, each way to sign in, to be told and to be asked. */
const sample = ['disk', 'docusign', 'flow', 'lob', 'maileva', 'simulator', 'smtp', 'stripe', 'twilio', 'universign',
  ...['brevo', 'resend', 's3', 'vonage', 'webdav', 'xero', 'yousign'].map((name) => `community/${name}`)]

/**
 * The folders below `providers` whose kit runs in processes of their own: those of the sample, and those that the change has touched, which
 * scripts/test.ts names. With CI_ALL=1 all.
 */
export function foldersToTry (
  providers: string,
  { CI_ALL: all, DISPATCH_TEST_CHANGED: changed = '' }: Readonly<Record<string, string | undefined>> = process.env
): string[] {
  const folders = globSync(['*', 'community/*'], { cwd: providers })
    .filter((folder) => existsSync(join(providers, folder, 'package.json'))).sort()
  const touched = changed.split('\n')
  return folders.filter((folder) =>
    all === '1' || sample.includes(folder) || touched.some((file) => file.startsWith(`providers/${folder}/`))
  )
}
