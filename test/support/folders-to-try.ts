import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Providers and adapters that have, together, each verb and each way to sign in, to send and to keep. How events are verified does not
 * matter here: the host does it, wherever a provider runs.
 */
const sample = ['disk', 'docusign', 'flow', 'simulator', 'smtp', 'stripe', ...['brevo', 's3', 'xero'].map((name) => `community/${name}`)]

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
