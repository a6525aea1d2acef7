// Nobody is signed in: what the dock and terminals kept in this tab goes.

import { forget } from "./dockstore.js";
import { forget as forgetTerminals } from "./terminalkept.js";

forget();
forgetTerminals();
