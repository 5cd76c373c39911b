import '../support/deep.ts';
import './ai-sdk-built-in-tools.test.ts';
