import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const root = new URL('../../../', import.meta.url)

/**
 * Where codes are written that no client reads: what keeps an adapter or its manifest from being loaded is told in one sentence, and the
 * rules of e-invoices have a test of their own.
 */
const untold: readonly RegExp[] = [
  /\/test\//,
  /^core\/packages\/(?:client|conformance|einvoice\/rules|host\/webhook)\//,
  /^core\/packages\/host\/(?:manifest\/(?:connect|errors|facts|manifest)|settings\/settings-schema|call\/subscribe)\.ts/,
  /^core\/packages\/marketplace\/catalog\/build\.ts/
]

/**
 * The codes of problems that the sources of the API and of the shipped providers write: as `code` of an object with a message, and in calls
 * of functions that take a `code` besides something else, such as `fault('/file', 'order', …)`.
 */
export function problemCodes (): ReadonlyMap<string, ReadonlySet<string>> {
  const files = globSync(['core/**/*.ts', 'plugins/routes/**/*.ts', 'plugins/hooks/**/*.ts', 'providers/**/*.ts'], { cwd: root })
  const sources = files.filter((file) => !/(?:^|\/)node_modules\//.test(file) && !untold.some((place) => place.test(file))).map((file) =>
    ts.createSourceFile(file, readFileSync(new URL(file, root), 'utf8'), ts.ScriptTarget.Latest, true)
  )
  const exported = new Map<string, number>()
  const own = new Map(sources.map((source) => [source, takersIn(source, exported)]))
  const codes = new Map<string, Set<string>>()
  const note = ({ fileName }: ts.SourceFile, value: ts.Node | undefined): void => {
    for (const code of literals(value)) {
      if (/^[a-z][a-z\d_]+$/.test(code)) codes.set(code, (codes.get(code) ?? new Set()).add(fileName))
    }
  }
  for (const source of sources) {
    visit(source, (node) => {
      if (ts.isPropertyAssignment(node) && node.name.getText() === 'code' && isReported(node.parent)) note(source, node.initializer)
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const name = node.expression.getText().split('.').at(-1) ?? ''
        const place = own.get(source)?.get(name) ?? (imports(source, name) && !others.has(name) ? exported.get(name) : undefined)
        if (place !== undefined) note(source, node.arguments?.[place])
      }
    })
  }
  return codes
}

/** Functions whose `code` is something else: a service in a trace, a provider in the audit log. */
const others: ReadonlySet<string> = new Set(['note', 'within'])

/** Whether a file imports a name. */
function imports (source: ts.SourceFile, name: string): boolean {
  return source.statements.some((statement) => {
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined
    return bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.some((element) => element.name.text === name)
  })
}

/** The functions of a file that take the code of a problem, with the place of it; those that others may call are added to `exported`. */
function takersIn (source: ts.SourceFile, exported: Map<string, number>): Map<string, number> {
  const takers = new Map<string, number>()
  visit(source, (node) => {
    if (!ts.isFunctionLike(node) || node.parameters.length < 2) return
    const place = node.parameters.findIndex(({ name }) => name.getText() === 'code')
    const name = nameOf(node)
    if (place === -1 || name === undefined) return
    takers.set(name, place)
    exported.set(name, place)
  })
  return takers
}

function nameOf (node: ts.Node): string | undefined {
  if (ts.isFunctionDeclaration(node)) return node.name?.text
  if (ts.isConstructorDeclaration(node)) return node.parent.name?.text
  if (!ts.isArrowFunction(node) || !ts.isVariableDeclaration(node.parent)) return undefined
  return node.parent.name.getText()
}

function isReported (parent: ts.Node): boolean {
  return ts.isObjectLiteralExpression(parent) &&
    parent.properties.some((property) => ts.isSpreadAssignment(property) || property.name.getText() === 'message')
}

/** The texts that a value can be. */
function literals (node: ts.Node | undefined): string[] {
  if (node === undefined) return []
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isConditionalExpression(node)) return [...literals(node.whenTrue), ...literals(node.whenFalse)]
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return literals(node.right)
  return ts.isParenthesizedExpression(node) || ts.isAsExpression(node) ? literals(node.expression) : []
}

function visit (node: ts.Node, each: (node: ts.Node) => void): void {
  each(node)
  ts.forEachChild(node, (child) => visit(child, each))
}
