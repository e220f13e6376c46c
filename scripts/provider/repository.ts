import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import project from '../../package.json' with { type: 'json' }
import { type NewProvider, scaffoldProvider } from './scaffold.ts'
import { sdkFiles } from './sdk-files.ts'

/** Where the tarballs of the core and the kit lie in a repository. */
const vendor = 'vendor'

/**
 * Writes the folder of a new provider as a repository of its own: its types, the kit and `npm test` come from tarballs in it, which
 * `writeVendor` writes into a folder. It passes the kit, with an invented vendor. Resolves to the path of the folder.
 */
export async function scaffoldRepository (
  folder: string,
  wanted: NewProvider,
  writeVendor: (directory: string) => Promise<unknown>
): Promise<string> {
  const made = await scaffoldProvider({ ...wanted, folder, own: true })
  await writeVendor(join(made, vendor))
  const path = join(made, 'package.json')
  await writeFile(path, json({ ...JSON.parse(await readFile(path, 'utf8')) as object, ...development }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(made, name)), { recursive: true })
    await writeFile(join(made, name), text)
  }
  return made
}

function json (value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

const development = {
  engines: { node: '>=26' },
  scripts: { test: 'dispatch-provider test', release: 'dispatch-provider publish' },
  devDependencies: {
    '@dispatch/core': `file:${vendor}/${sdkFiles.core}`,
    '@dispatch/conformance': `file:${vendor}/${sdkFiles.kit}`,
    'typescript': project.devDependencies['@typescript/native'].replace(/^.*@/, '')
  }
}

const files = {
  '.npmrc': `# No registry has these packages, and a stranger's package of that name is not theirs (RFC 2606: the name is nobody's).
@dispatch:registry=https://registry.invalid/
`,
  '.gitignore': 'node_modules/\n*.tgz\n!vendor/*.tgz\n',
  'tsconfig.json': json({
    compilerOptions: {
      target: 'esnext',
      lib: ['esnext'],
      module: 'nodenext',
      types: [],
      noEmit: true,
      strict: true,
      allowJs: true,
      checkJs: true,
      erasableSyntaxOnly: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true
    },
    include: ['*.ts', '*.js']
  }),
  '.github/workflows/test.yml': `name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 26
      - run: npm install --ignore-scripts
      - run: npm test
`
}
