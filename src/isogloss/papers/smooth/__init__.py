"""The smooth learning paper: a similarity whose gradient is bounded, and a loss for ordered grades.

    Jiapeng Liu, Xiao Zhang, Dan Goldwasser and Xiao Wang. Cross-Lingual Document Retrieval with Smooth Learning.
    Proceedings of the 28th International Conference on Computational Linguistics (COLING 2020), pages 3616-3629,
    Barcelona, Spain (online), 2020. https://aclanthology.org/2020.coling-main.323

The paper encodes queries and documents of two languages as vectors, and trains the encoders on graded judgments. It
replaces the cosine with the smooth cosine similarity, whose gradient is bounded. It trains with the Smooth Ordinal
Search Loss (SOSL), which gives every grade its own segment of scores, and it bounds the generalization error.

**Systems and baselines.** One system is registered, because the paper compares losses and encoders of one model:

    smooth                     isogloss.papers.smooth.system:Smooth

    in the paper               option of ``smooth``      in the paper               option of ``smooth``
    average pooling (its own)  encoder=average           SOSL (its own)             loss=sosl
    DSSM-CNN                   encoder=cnn               3Part_L2                   loss=3part
    DSSM-LSTM                  encoder=lstm              MSE                        loss=mse
    smooth cosine              eps=1                     PO_S                       loss=po
    cosine                     eps=0                     not in the paper           loss=po-open

The defaults of ``smooth`` are eps=0.1 and thresholds=0.3,0.98, which were chosen by the MRR on a whole collection. The
paper has eps=1 and thresholds=0.2,0.7, and ``isogloss reproduce`` uses these values.

**From the paper to the code.** A name without ``isogloss.`` is short for ``isogloss.papers.`` and the name. A single
name after a comma is in the module that was named before it.

    3.1   embeddings Emb_A and Emb_B               smooth.model.SmoothModel (one table for each language)
    3.2   average pooling and tanh, f_q and f_d    smooth.word_average.AverageEncoder, towers.AverageTower (torch)
    3.3   (1) smooth cosine similarity             similarity.smooth_cosine (smooth_scale: the factor of one side)
          its gradient                             similarity.smooth_cosine_gradient
          gradient clipping                        option clip; smooth.learners, torch_steps.NamedAdam
    3.4   (2) SOSL                                 smooth.losses.SmoothOrdinalSearchLoss
          (compiled learners write it again)       smooth.learners.reference, compiled, kernels, torch_pairs
          thresholds theta_0 to theta_K            smooth.losses.segments, check_thresholds
    4     Proposition 1                            smooth.experiments.theory.sosl_slope, sosl_regularity
          Lemma 2                                  smooth.experiments.theory.model_regularity
          Theorem 3                                smooth.experiments.theory.generalisation_bound
    5     split of the queries, 3:1:1              isogloss.data.splits.split_queries
          MR and SR documents, 40 random NR        examples.graded_examples, isogloss.data.splits.sample_negatives
          ranking them (protocol ``sampled``)      isogloss.evaluation.protocols.make_task
          P, NDCG, MAP and MRR                     isogloss.evaluation.measures.MEASURES
          Polyglot vectors                         word_vectors.formats.polyglot; query_vectors and document_vectors
          rates, batches and epochs                smooth.model.RECIPES
          Adam                                     isogloss.systems.bridge.adam, torch_steps.NamedAdam
          training                                 smooth.training_setup.make_learner, training_loop.Training
    5.1   3Part_L2                                 smooth.losses.ThreePartSquaredHinge
          MSE                                      smooth.losses.MeanSquaredError
          PO_S                                     smooth.losses.ProportionalOdds (po-open: OpenProportionalOdds)
          density of the scores                    smooth.experiments.figures.density
          DSSM-CNN                                 towers.CnnTower
          DSSM-LSTM                                towers.LstmTower
    5.2   thresholds chosen for each eps           smooth.experiments.plan.Grid, smooth.experiments.figures.figure4
    5.3   20 to 100 NR documents                   smooth.experiments.plan.figure5_trials
    A.1   Definitions A.1 and A.2                  smooth.experiments.theory.Regularity
          Lemmas A.1 and A.2                       smooth.experiments.theory.compose
          bounds on r(f): 2/eps and N(p)/eps^2     smooth.experiments.theory.gradient_bound, hessian_bound
          the encoder is Lipschitz and smooth      smooth.experiments.theory.encoder_regularity
    A.2   (3), (4) expected and empirical error    smooth.experiments.measuring.measure_model (means over pairs)
          Theorem A.3                              smooth.experiments.theory.generalisation_bound (its right-hand side)
    A.3   Definition A.3, Theorem A.4              smooth.experiments.theory.stability (the bound alone)

**Tables and figures.** They are made by smooth.experiments.pages.ITEMS. Tables 1 to 3 also show the numbers that
the paper reports. Figures 1 and 2 need no data.

    isogloss reproduce smooth table1 --data SOURCE --pair en-fr -o DIR     queries, SR documents per query, documents
    isogloss reproduce smooth table2 --data SOURCE --pair en-fr -o DIR     the losses
    isogloss reproduce smooth table3 --data SOURCE --pair en-fr -o DIR     the encoders
    isogloss reproduce smooth figure1 -o DIR                               the gradient of the smooth cosine
    isogloss reproduce smooth figure2 -o DIR                               SOSL and MSE
    isogloss reproduce smooth figure3 --data SOURCE --pair en-fr -o DIR    densities of the scores, by loss
    isogloss reproduce smooth figure4 --data SOURCE --pair en-fr -o DIR    measures for each eps
    isogloss reproduce smooth figure5 --data SOURCE --pair en-fr -o DIR    measures for 20 to 100 NR documents
    isogloss reproduce smooth claims --data SOURCE --pair en-fr -o DIR     what the text claims without a table
    isogloss reproduce smooth theory --data SOURCE --pair en-fr -o DIR     constants, Theorem 3, the measured gap

**Differences.** The paper does not state the targets of MSE, the thresholds of 3Part_L2 and the unit of its
learning-rate decay. Its P_mr@5 is read as the share of queries with the MR document among the first five. The theory
uses Theorem A.4's exponent and corrects Lemma A.2. Training starts from random word vectors unless ``--set`` gives
files. All readings are in docs/decisions/reading-the-papers.md, and measured results are in docs/results/smooth.md.
"""
