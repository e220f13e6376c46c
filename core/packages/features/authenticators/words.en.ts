export const words = {
  factorBegin: 'Set up an app',
  factorScan: 'Scan this with the app:',
  factorQr: 'QR code for the app',
  factorType: 'Or type this secret into it. It is shown this once.',
  factorConfirm: 'Confirm',
  factorAgain: 'Start again',
  factorApp: 'App for codes',
  factorOn: 'set up',
  factorOnIntro: 'The sign-in asks for its code after the password. At the API the password alone is refused: programs use API keys.',
  codeOfApp: 'Code of the app'
}
