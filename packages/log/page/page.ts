import './node-buffer.ts';
import { describeReceipt } from '../src/commands/describe-receipt.ts';
import { verifyReceipt } from '../src/verify-receipt.ts';
import type { CheckSignature } from '../src/verify-receipt.ts';

const mostBytes = 16 * 1024 * 1024;

const checkSignature: CheckSignature = async ({ bytes }, message, signature) => {
  const key = await crypto.subtle.importKey('raw', copy(bytes), 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', key, copy(signature), copy(message));
};

const [drop, choose, key, witness, verdict, details] = ['drop', 'choose', 'key', 'witness', 'verdict', 'details'].map(
  (id) => document.getElementById(id) as HTMLInputElement,
) as [HTMLElement, HTMLInputElement, HTMLInputElement, HTMLInputElement, HTMLElement, HTMLElement];
let text: string | undefined;

async function read(file: File | undefined): Promise<void> {
  if (file === undefined) return;
  if (file.size > mostBytes) return show('unreadable', ['The file is too long for a receipt.']);
  text = await file.text();
  await judge();
}

async function judge(): Promise<void> {
  if (text === undefined) return;
  const verifier = key.value.trim() === '' ? undefined : key.value;
  const witnesses = witness.value.split(/\s+/).filter((each) => each !== '');
  try {
    const report = await verifyReceipt(text, { verifier, witnesses, checkSignature });
    const state = report.intact ? (report.isKnownKey ? 'intact' : 'own-key') : 'changed';
    show(state, describeReceipt(report).map(inWordsOfThePage));
  } catch (error) {
    show('unreadable', [error instanceof Error ? error.message : String(error)]);
  }
}

/** Only as text: a receipt contains what callers wrote. */
function show(state: string, [first = '', ...more]: readonly string[]): void {
  verdict.dataset['state'] = state;
  verdict.textContent = first;
  details.textContent = more.join('\n');
}

function inWordsOfThePage(line: string): string {
  return line
    .replace('pass --key to compare it with one you know', 'paste the one you know above, else this proves little')
    .replace('pass --witness KEY to check that', 'paste their keys above to check that');
}

function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}

document.addEventListener('dragover', (event) => {
  event.preventDefault();
  drop.classList.add('over');
});
document.addEventListener('dragleave', () => drop.classList.remove('over'));
document.addEventListener('drop', (event) => {
  event.preventDefault();
  drop.classList.remove('over');
  void read(event.dataTransfer?.files[0]);
});
choose.addEventListener('change', () => void read(choose.files?.[0]));
for (const field of [key, witness]) field.addEventListener('input', () => void judge());
