"""The layer-wise adversary paper: a layered CNN for questions in two languages, with a critic on each layer.

    Bo Li, Xiaodong Du and Meng Chen. Cross-language question retrieval with multi-layer representation and layer-wise
    adversary. Information Sciences, Elsevier, 2020 (available online 21 March 2020).

The paper finds questions that are similar to a new question in another language. One CNN with several layers encodes
both questions, and a critic on each layer estimates how far apart the two languages are. A weight for each layer
decides whether the encoder removes this difference or increases it, and a pairwise hinge loss trains the ranking.

**Systems and baselines.** The rows of the paper's Table 1, and the systems that are registered for them. Here and
below, a name without ``isogloss.`` is short for ``isogloss.papers.`` and the name.

    our model        layerwise-paper    layerwise.system:PaperLayerwise
    BM25             bm25               isogloss.systems.bm25:UntranslatedBM25
    TRANS            translation-lm     layerwise.translation_lm:TranslationLanguageModel
    TOPIC            topic              layerwise.topic:Topic
    DSSM             dssm               layerwise.matchers.systems:Dssm
    AI-CNN           ai-cnn             layerwise.matchers.systems:AiCnn
    CNTN             cntn               layerwise.matchers.systems:Cntn
    Match-SRNN       match-srnn         layerwise.matchers.systems:MatchSrnn
    CNTN-MT          cntn-mt            layerwise.matchers.systems:TranslatingCntn
    Match-SRNN-MT    match-srnn-mt      layerwise.matchers.systems:TranslatingMatchSrnn
    CLANN            clann              layerwise.matchers.systems:Clann
    CLTK             tree-kernel        layerwise.tree_kernel.system:TreeKernelSystem
    not in the paper layerwise          layerwise.system:Layerwise (other defaults, made for retrieval)
    not in the paper bm25-mt            layerwise.translated_queries:TranslatedBM25

**From the paper to the code.** A single name after a comma is in the module that was named before it.

    3.2    input matrix M_s                       layerwise.matchers.scorer.WordTables
           (1) wide convolution, kernel shapes    layerwise.matchers.layered.LayeredCnn (option widths)
           F_kmax, pooling between layers         layerwise.matchers.layered.LayeredCnn, k_max (option pooling)
           f_max, the vector of a layer           layerwise.matchers.layered.Layer.vectors
    3.3    (2), (3) games of the standard GAN     not implemented: the paper replaces them with (5)
           (4) Wasserstein-1 as an infimum        not computed: (5) estimates it
           (5) the critic's difference            layerwise.adversary.Critic.difference
           (5) its maximum over critics           layerwise.adversary.LayerwiseAdversary.prepare
           (5) 1-Lipschitz critics                layerwise.adversary.gradient_penalty, Critic.clip
           (6), (7) sign of alpha                 layerwise.adversary (its docstring: the sign is that of the text)
           (8) L_j and their sum L_adv            layerwise.adversary.LayerwiseAdversary.value
           alpha_j of each layer                  layerwise.system.LayerwiseOptions.all_alphas (option alphas)
    3.4    translated question-answer pairs       layerwise.matchers.ranking_data.translated_pairs
           triples (q, a+, a-)                    layerwise.triples.Triples, RandomNegatives
           (9) L_rank                             layerwise.torch_triples.ranking_loss
           score, NN_s                            layerwise.matchers.layered.VectorPairNetwork, LayeredScorer.match
           (10) L = L_rank + beta L_adv           layerwise.torch_triples.TorchTriples.step (means over the batch)
    4.1    lists of BM25's best 20                layerwise.experiments.data.with_lists (protocol ``candidates``)
    4.2    skip-gram vectors, 300 dimensions      word_vectors.skip_gram.skip_gram, initial_vectors.skip_gram_vectors
           search space                           layerwise.system.PAPER_GRID (isogloss train: --grid paper)
           NN_d: input, 64, output                layerwise.adversary.Critic
           MAP and P@10                           isogloss.evaluation.measures.average_precision, precision
           t-test at p = 0.05                     isogloss.evaluation.significance.paired_t_test
    4.3.1  TRANS                                  layerwise.translation_lm.WordProbabilities, TranslationLM
           TOPIC                                  layerwise.topic.TopicLearner, Topics
           DSSM, AI-CNN                           layerwise.matchers.dssm.Dssm, layerwise.matchers.ai_cnn.AiCnn
           CNTN, Match-SRNN                       layerwise.matchers.cntn.Cntn, layerwise.matchers.match_srnn.MatchSrnn
           machine translation                    layerwise.translated_queries.TranslatedQueries
           CLANN                                  layerwise.matchers.clann.Clann, layerwise.adversary.LanguageAdversary
           CLTK, the kernel and the ranking       layerwise.tree_kernel.kernel.TreeKernel, layerwise.tree_kernel.ranker
    4.3.2  ENC-K, ENC-P                           layerwise.system.LayerwiseOptions.with_variant (variant=enc-k, enc-p)
    4.3.3  ADV-NON, -ONE, -ALL, -TOP              the same function (variant=adv-non, adv-one, adv-all, adv-top)
    4.3    claims about differences               layerwise.experiments.published.CLAIMS

**Tables.** The paper's only figure shows the architecture, and the last four items below are not in the paper. The
monolingual rows of table1 need a pair of one language, such as zh-zh, in addition to the pair of two languages.

    isogloss reproduce layerwise table1 --data SOURCE --pair zh-zh --pair en-zh -o DIR    the model and its baselines
    isogloss reproduce layerwise table2 --data SOURCE --pair en-zh -o DIR             text encoders: ENC-K, ENC-P
    isogloss reproduce layerwise table3 --data SOURCE --pair en-zh -o DIR             adversaries: ADV-NON to ADV-TOP
    isogloss reproduce layerwise figure_distance --data SOURCE --pair en-zh -o DIR    distance on each layer, by epoch
    isogloss reproduce layerwise figure_alphas --data SOURCE --pair en-zh -o DIR      MAP for each choice of alphas
    isogloss reproduce layerwise probe --data SOURCE --pair en-zh -o DIR              language told from each layer
    isogloss reproduce layerwise settings --data SOURCE --pair en-zh -o DIR           values of 4.2, one at a time

**Differences.** Equations (7) and (8) contradict the text about the sign of alpha_j, and the code follows the text. The
alphas are chosen on validation lists. Critics have a gradient penalty by default; critic=clipping is WGAN's method. The
Yahoo and Baidu data are not available, and relevance labels come from the judgments of your data. TOPIC and CLTK
lack some features of their originals. All readings are in docs/decisions/reading-the-papers.md, and measured results
are in docs/results/layerwise.md.
"""
