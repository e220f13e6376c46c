import ts from 'typescript'

/** One small change of a file: `text` replaces the source from `start` to `end`. `kind` names the change. */
export type Mutation = { file: string, line: number, start: number, end: number, before: string, text: string, kind: string }

type Change = Omit<Mutation, 'file' | 'line' | 'before'>

/** Operators and their replacements. `+` is not changed, because it may join texts. */
const operators = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*']
])

/** Every small change of a source: a negated condition, another operator or constant, a removed element or call. */
export function mutationsOf (file: string, source: string): Mutation[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const found: Mutation[] = []
  const visit = (node: ts.Node): void => {
    // Types do not exist at run time.
    if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return
    for (const change of changesOf(node, tree)) {
      const before = source.slice(change.start, change.end)
      found.push({ file, line: tree.getLineAndCharacterOfPosition(change.start).line + 1, before, ...change })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function changesOf (node: ts.Node, tree: ts.SourceFile): Change[] {
  const place = (of: ts.Node): { start: number, end: number } => ({ start: of.getStart(tree), end: of.end })
  const negated = (condition: ts.Expression): Change => ({
    ...place(condition),
    text: `!(${condition.getText(tree)})`,
    kind: 'condition negated'
  })
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return [negated(node.expression)]
  if (ts.isConditionalExpression(node)) return [negated(node.condition)]
  if (ts.isBinaryExpression(node)) {
    const text = operators.get(node.operatorToken.kind)
    return text === undefined ? [] : [{ ...place(node.operatorToken), text, kind: 'operator changed' }]
  }
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 1) {
    return node.elements.map((_, index) => ({ ...withoutElement(node.elements, index, tree), text: '', kind: 'element left out' }))
  }
  if (ts.isNumericLiteral(node)) return [{ ...place(node), text: `(${node.text} + 1)`, kind: 'constant changed' }]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ ...place(node), text: 'false', kind: 'constant changed' }]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ ...place(node), text: 'true', kind: 'constant changed' }]
  if (ts.isExpressionStatement(node) && isCall(node.expression)) return [{ ...place(node), text: ';', kind: 'call left out' }]
  return []
}

/** An element with its comma. */
function withoutElement (elements: ts.NodeArray<ts.Expression>, index: number, tree: ts.SourceFile): { start: number, end: number } {
  const [element, next, previous] = [elements[index], elements[index + 1], elements[index - 1]]
  if (element === undefined) throw new RangeError('There is no such element.')
  if (next !== undefined) return { start: element.getStart(tree), end: next.getStart(tree) }
  return { start: previous?.end ?? element.getStart(tree), end: element.end }
}

function isCall (expression: ts.Expression): boolean {
  const inner = ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) ? expression.expression : expression
  return ts.isCallExpression(inner) && inner.expression.kind !== ts.SyntaxKind.SuperKeyword
}
