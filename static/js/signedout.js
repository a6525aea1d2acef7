// After sign-out: remove the state of the dock and terminals from session storage.

import { forget } from "./dockstore.js";
import { forget as forgetTerminals } from "./terminalkept.js";

forget();
forgetTerminals();
